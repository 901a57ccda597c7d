// Package listing prints lists of findings within bounds.
package listing

import (
	"fmt"
	"strings"
)

// Max is the number of findings that are printed as text.
const Max = 50

// Shorten returns the findings to print, and the line that counts the others, if there are any.
func Shorten[T any](all []T, what string) (first []T, rest []string) {
	switch more := len(all) - Max; {
	case more <= 0:
		return all, nil
	case more == 1:
		return all[:Max], []string{"and 1 more " + what}
	default:
		return all[:Max], []string{fmt.Sprintf("and %d more %ss", more, what)}
	}
}

// Lines returns the texts of the first Max findings, one below the other, and the number of the others, if there are any.
func Lines[T error](all []T, what string) string {
	first, rest := Shorten(all, what)
	lines := make([]string, len(first))
	for i, finding := range first {
		lines[i] = finding.Error()
	}
	return strings.Join(append(lines, rest...), "\n")
}

// Errors returns findings as the errors that a list of them wraps.
func Errors[T error](all []T) []error {
	errs := make([]error, len(all))
	for i, finding := range all {
		errs[i] = finding
	}
	return errs
}
