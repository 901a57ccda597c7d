package upgrade

import (
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/textdiff"
)

// merged merges texts of words and marks conflicts.
func merged(base, mine, theirs []string, strict bool) []string {
	pairs := func(other []string) []int {
		return textdiff.Match(len(base), len(other), func(i int) int32 { return weigh(base[i]) }, func(i, j int) bool { return base[i] == other[j] })
	}
	var out []string
	for _, c := range merge(len(base), pairs(mine), pairs(theirs), len(mine), len(theirs), strict) {
		switch c.kind {
		case same, mineChanged:
			out = append(out, mine[c.mineFrom:c.mineTo]...)
		case theirsChanged:
			out = append(out, theirs[c.theirsFrom:c.theirsTo]...)
		case clashing:
			out = append(out, "<")
			out = append(out, mine[c.mineFrom:c.mineTo]...)
			out = append(out, "=")
			out = append(out, theirs[c.theirsFrom:c.theirsTo]...)
			out = append(out, ">")
		}
	}
	return out
}

func TestMerge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, mine, theirs, want, strict string }{
		{"one two three", "one two three", "one two three", "one two three", ""},
		{"one two three", "ONE two three", "one two THREE", "ONE two THREE", ""},
		{"one two three", "ONE two three", "one TWO three", "ONE TWO three", "< ONE two = one TWO > three"},
		{"one two three", "one MINE three", "one THEIRS three", "one < MINE = THEIRS > three", ""},
		{"one two three", "one three", "one TWO three", "one < = TWO > three", ""},
		{"one two", "one mine two", "one theirs two", "one < mine = theirs > two", ""},
		{"one two", "one mine two", "one TWO", "one mine TWO", "one < mine two = TWO >"},
		{"one two three four", "one three four", "one two three FOUR", "one three FOUR", ""},
		{"", "mine", "theirs", "< mine = theirs >", ""},
		{"one", "", "one two", "two", "< = one two >"},
		{"one two three four", "mine", "one two THREE four", "< mine = one two THREE four >", ""},
	} {
		if c.strict == "" {
			c.strict = c.want
		}
		for strict, want := range map[bool]string{false: c.want, true: c.strict} {
			got := strings.Join(merged(strings.Fields(c.base), strings.Fields(c.mine), strings.Fields(c.theirs), strict), " ")
			if got != want {
				t.Errorf("%q, %q and %q, strict %t: %q, want %q", c.base, c.mine, c.theirs, strict, got, want)
			}
		}
	}
}

// FuzzMerge holds what every merge must: who changes nothing gets the other's text, whom both agree with stays,
// and no line that a person added is lost.
func FuzzMerge(f *testing.F) {
	f.Add("abcd", "abXcd", "aYbc")
	f.Add("aaaa", "aa", "aaXaa")
	f.Add("", "x", "y")
	f.Fuzz(func(t *testing.T, b, m, o string) {
		if len(b)+len(m)+len(o) > 200 {
			return
		}
		base, mine, theirs := strings.Split(b, ""), strings.Split(m, ""), strings.Split(o, "")
		for _, strict := range []bool{false, true} {
			for name, pair := range map[string][2][]string{
				"theirs alone": {merged(base, base, theirs, strict), theirs},
				"mine alone":   {merged(base, mine, base, strict), mine},
			} {
				if !slices.Equal(pair[0], pair[1]) {
					t.Errorf("%s: %q", name, pair[0])
				}
			}
			out := count(merged(base, mine, theirs, strict))
			was := count(base)
			for line, n := range count(mine) {
				if n > was[line] && out[line] < n-was[line] {
					t.Errorf("%q, %q and %q, strict %t: lost %q", b, m, o, strict, line)
				}
			}
		}
	})
}

func count(lines []string) map[string]int {
	n := map[string]int{}
	for _, l := range lines {
		n[l]++
	}
	return n
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"FROM golang:1.24 AS b": "1.24", "KUSTOMIZE_VERSION ?= v5.6.0": "v5.6.0", "10.0.0.1": "", "apps/v1": "", "a1.2": "", "1.2.3-beta": "1.2.3", "v1.2x": "",
	} {
		if _, got := cutVersions(text); strings.Join(got, ",") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if !notAbove([]string{"v1.9.0"}, []string{"v1.10.0"}) || notAbove([]string{"1.10"}, []string{"1.9.9"}) || notAbove([]string{"1"}, nil) {
		t.Error("versions are compared wrongly")
	}
}
