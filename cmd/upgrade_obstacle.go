package cmd

import (
	"path"
	"slices"

	"github.com/operon-sdk/operon/pkg/codegen"
)

// obstacle is what raised requirements break.
type obstacle struct {
	// broken names it: the code, code generation or go mod tidy.
	broken string
	err    error
}

func (o *obstacle) Error() string {
	return "the new requirements break " + o.broken + ":\n" + o.err.Error()
}

// Unwrap returns what is wrong with it.
func (o *obstacle) Unwrap() error { return o.err }

// failure is what would go wrong if code and go.mod did not stay as they are.
func (o *obstacle) failure() string { return "the new requirements would break " + o.broken }

// problem returns what does not work with the new requirements, nil if everything does.
func (u *upgraded) problem() *obstacle {
	switch {
	case u.untidy != nil: // what else there is may follow from that
		return &obstacle{"go mod tidy", u.untidy}
	case len(u.invalid) > 0:
		return &obstacle{"code generation", u.invalid}
	case len(u.broken) > 0:
		return &obstacle{"the code", u.broken}
	}
	return nil
}

// breaks reports whether something worked before that does not work with the new requirements. failing holds the directories
// of the packages that did not compile.
func (u *upgraded) breaks(failing map[string]bool) bool {
	if u.untidy != nil {
		return len(failing) == 0
	}
	findings := slices.Concat(u.invalid, u.broken)
	return slices.ContainsFunc(findings, func(f codegen.Finding) bool { return !failing[path.Dir(f.File)] })
}
