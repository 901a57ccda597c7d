package upgrade

import (
	"path"
	"slices"

	"github.com/operon-sdk/operon/pkg/diag"
)

// An obstacle is an effect of new requirements that prevents changes of go.mod and code.
type obstacle struct {
	// broken is what no longer works: the code, code generation or go mod tidy.
	broken string
	err    error
}

func (o *obstacle) Error() string { return o.Unwrap().Error() }

func (o *obstacle) Unwrap() error {
	return &diag.Group{Heading: "the new requirements break " + o.broken + ":", Err: o.err}
}

// failure describes the effect of the obstacle if go.mod and code changed.
func (o *obstacle) failure() string { return "the new requirements would break " + o.broken }

// problem returns what does not work with the new requirements, or nil.
func (u *upgrade) problem() *obstacle {
	switch {
	case u.untidy != nil: // the other problems may follow from this one
		return &obstacle{"go mod tidy", u.untidy}
	case len(u.invalid) > 0:
		return &obstacle{"code generation", u.invalid}
	case len(u.broken) > 0:
		return &obstacle{"the code", u.broken}
	}
	return nil
}

// breaks reports whether a package that compiled before no longer compiles. failing contains the directories of the packages
// that did not compile before.
func (u *upgrade) breaks(failing map[string]bool) bool {
	if u.untidy != nil {
		return len(failing) == 0
	}
	findings := slices.Concat(u.invalid, u.broken)
	return slices.ContainsFunc(findings, func(f diag.Finding) bool { return !failing[path.Dir(f.File)] })
}
