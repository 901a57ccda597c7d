package local

import (
	"slices"
	"strings"
)

// A Program is a manager that is not built from the project.
type Program struct {
	// Name is its path.
	Name string
	// Args are the arguments before the flags of the manager.
	Args []string
	// Flags are the names of its flags that Run can set. If it is nil, they are read from its help.
	Flags []string
	// Environ are additional variables. They take precedence over Options.Environ and the manager's manifest.
	Environ []string
}

// sets reports whether the arguments contain a flag.
func (p Program) sets(flag string) bool {
	return slices.ContainsFunc(p.Args, func(arg string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		return strings.HasPrefix(arg, "-") && name == flag
	})
}
