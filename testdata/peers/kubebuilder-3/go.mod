// The last kubebuilder with the layout go/v3: main.go and controllers at the root.
module github.com/operon-sdk/operon/testdata/peers/kubebuilder-3

go 1.26.0

tool sigs.k8s.io/kubebuilder/v3/cmd

require (
	github.com/gobuffalo/flect v1.0.2 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/sirupsen/logrus v1.9.3 // indirect
	github.com/spf13/afero v1.11.0 // indirect
	github.com/spf13/cobra v1.8.0 // indirect
	github.com/spf13/pflag v1.0.5 // indirect
	golang.org/x/mod v0.24.0 // indirect
	golang.org/x/sync v0.14.0 // indirect
	golang.org/x/sys v0.33.0 // indirect
	golang.org/x/text v0.15.0 // indirect
	golang.org/x/tools v0.33.0 // indirect
	sigs.k8s.io/kubebuilder/v3 v3.15.1 // indirect
	sigs.k8s.io/yaml v1.4.0 // indirect
)
