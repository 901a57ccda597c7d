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
	if len(all) <= MaxListed {
		return all, nil
	}
	return all[:MaxListed], []string{"and " + Count(len(all)-MaxListed, "more "+noun)}
}

// Count returns a number with a noun in the singular or the plural: "1 file", "2 files". The given noun is in the singular.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
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
