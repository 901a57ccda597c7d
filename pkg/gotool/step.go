package gotool

// step describes what a go command does.
func step(args []string) string {
	switch {
	case len(args) > 0 && args[0] == "list":
		return "loading the packages that the project imports"
	case len(args) > 1 && args[0] == "mod":
		return "running 'go mod " + args[1] + "'"
	case len(args) > 0:
		return "running 'go " + args[0] + "'"
	}
	return "running go"
}
