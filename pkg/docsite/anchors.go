package docsite

import (
	"strconv"
	"strings"
	"unicode"
)

// anchors are the anchors of a page that are taken, with the number of their headings.
type anchors map[string]int

// add returns the anchor of the next heading, as GitHub forms it: in lower case, without punctuation, with hyphens for spaces, and with
// a number if the page has another heading of the same text.
func (a anchors) add(heading string) string {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
	n := a[id]
	a[id]++
	if n > 0 {
		return a.add(id + "-" + strconv.Itoa(n))
	}
	return id
}
