package merge

import (
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/textdiff"
)

// Lines merges three versions of a text of any format by lines. Lines that both sides changed are decided by the side of the
// options, or kept between conflict markers, whose number is returned.
func Lines(base, ours, theirs []byte, o Options) (merged []byte, conflicts int) {
	b, a, c := splitLines(base), splitLines(ours), splitLines(theirs)
	inOurs, inTheirs := textdiff.MatchLines(b, a), textdiff.MatchLines(b, c)
	var out []string
	i, j, k := 0, 0, 0 // the next lines of base, ours and theirs
	for {
		// The next line of the base that both sides have ends a part that may differ.
		next := i
		for next < len(b) && (inOurs[next] < 0 || inTheirs[next] < 0) {
			next++
		}
		endOurs, endTheirs := len(a), len(c)
		if next < len(b) {
			endOurs, endTheirs = inOurs[next], inTheirs[next]
		}
		lines, conflict := mergeHunk(b[i:next], a[j:endOurs], c[k:endTheirs], o)
		out = append(out, lines...)
		if conflict {
			conflicts++
		}
		if next == len(b) {
			break
		}
		out = append(out, a[endOurs])
		i, j, k = next+1, endOurs+1, endTheirs+1
	}
	for _, line := range out {
		merged = append(merged, line...)
	}
	return merged, conflicts
}

// mergeHunk merges a part of which no line is the same in all versions.
func mergeHunk(base, ours, theirs []string, o Options) (lines []string, conflict bool) {
	switch {
	case slices.Equal(ours, theirs), slices.Equal(base, theirs):
		return ours, false
	case slices.Equal(base, ours):
		return theirs, false
	case o.Side == Ours:
		return ours, false
	case o.Side == Theirs:
		return theirs, false
	}
	// Equal lines at the beginning and at the end are not part of the conflict.
	first := 0
	for first < min(len(ours), len(theirs)) && ours[first] == theirs[first] {
		first++
	}
	last := 0
	for last < min(len(ours), len(theirs))-first && ours[len(ours)-1-last] == theirs[len(theirs)-1-last] {
		last++
	}
	lines = slices.Concat(ours[:first], []string{"<<<<<<< " + o.OursLabel + "\n"}, ours[first:len(ours)-last],
		[]string{"=======\n"}, theirs[first:len(theirs)-last], []string{">>>>>>> " + o.TheirsLabel + "\n"}, ours[len(ours)-last:])
	return lines, true
}

// A textBase is the base of a text that is known completely.
type textBase map[string]bool

// newBase returns the facts of a text as a base.
func newBase(name string, text []byte) (Base, error) {
	facts, err := FileFacts(name, text)
	if err != nil {
		return nil, err
	}
	base := textBase{}
	for _, f := range facts {
		base[factKey(f)] = true
	}
	return base, nil
}

// Has implements Base.
func (b textBase) Has(f Fact) bool { return b[factKey(f)] }

// factKey returns a text that identifies a fact.
func factKey(f Fact) string {
	return strings.Join(slices.Concat(f.Path, []string{"\x00" + string(f.Part) + "\x00"}, f.Lines), "\n")
}
