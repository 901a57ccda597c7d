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

// Enumerate joins the first five of some names, and the number of the others: "a, b, c, d, e and 2 more".
func Enumerate(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
