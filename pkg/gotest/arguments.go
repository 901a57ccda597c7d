package gotest

import (
	"slices"
	"strings"
)

// switches are the flags of go test that take no value, unless it is joined with =. The next argument can be a package.
func switches() []string {
	return []string{
		"a", "asan", "benchmem", "c", "cover", "failfast", "fullpath", "json", "linkshared", "modcacherw", "msan", "n", "race", "short",
		"trimpath", "v", "work", "x",
	}
}

// HasFlag reports whether arguments of go test contain one of the flags, in whatever form.
func HasFlag(args []string, names ...string) bool {
	return slices.ContainsFunc(ownArguments(args), func(arg string) bool {
		flag, _, _ := strings.Cut(arg, "=")
		return strings.HasPrefix(flag, "-") && slices.Contains(names, flagName(flag))
	})
}

// HasPackages reports whether arguments of go test name packages.
func HasPackages(args []string) bool {
	value := false // whether the argument is the value of a flag
	for _, arg := range ownArguments(args) {
		switch {
		case strings.HasPrefix(arg, "-"):
			value = !strings.Contains(arg, "=") && !slices.Contains(switches(), flagName(arg))
		case !value:
			return true
		default:
			value = false
		}
	}
	return false
}

// flagName returns the name of a flag: -v, --v and -test.v are the same.
func flagName(flag string) string { return strings.TrimPrefix(strings.TrimLeft(flag, "-"), "test.") }

// ownArguments returns the arguments before -args, after which they belong to the tests.
func ownArguments(args []string) []string {
	if i := slices.IndexFunc(args, func(arg string) bool { return arg == "-args" || arg == "--args" }); i >= 0 {
		return args[:i]
	}
	return args
}
