package diag

import (
	"fmt"
	"strings"
)

// MaxListed is the number of findings that are printed as text.
const MaxListed = 50

// Shorten returns the first MaxListed findings, and a line with the number of the others, if there are any. The noun is what
// they are called, in the singular.
func Shorten[T any](all []T, noun string) (first []T, rest []string) {
	switch more := len(all) - MaxListed; {
	case more <= 0:
		return all, nil
	case more == 1:
		return all[:MaxListed], []string{"and 1 more " + noun}
	default:
		return all[:MaxListed], []string{fmt.Sprintf("and %d more %ss", more, noun)}
	}
}

// Lines returns the texts of the first MaxListed findings, one per line, and a line with the number of the others.
func Lines[T error](all []T, noun string) string {
	first, rest := Shorten(all, noun)
	lines := make([]string, len(first))
	for i, finding := range first {
		lines[i] = finding.Error()
	}
	return strings.Join(append(lines, rest...), "\n")
}

// Errors converts findings to the errors that a list of them wraps.
func Errors[T error](all []T) []error {
	errs := make([]error, len(all))
	for i, finding := range all {
		errs[i] = finding
	}
	return errs
}
