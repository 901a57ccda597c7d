package merge

import "strings"

// factSet is a base in memory.
type factSet map[string]bool

func factString(f Fact) string {
	return strings.Join(f.Path, "\x00") + "\x01" + string(f.Part) + "\x01" + strings.Join(f.Lines, "\x00")
}
func (s factSet) Has(f Fact) bool { return s[factString(f)] }
func (s factSet) add(facts []Fact) {
	for _, f := range facts {
		s[factString(f)] = true
	}
}
