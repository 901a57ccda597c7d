module example.org/pump-operator

go 1.24
