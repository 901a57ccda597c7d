package refactor

import (
	"strings"

	"github.com/operon-sdk/operon/pkg/textdiff"
)

// A conflict is a change of lines that the user has also changed.
type conflict struct {
	// old and new are the lines of the scaffold before and after.
	old, new []string
}

// merge applies the changes between base and other to ours, line by line. Changes of lines that differ in ours are left
// out and returned.
func merge(base, ours, other string) (string, []conflict) {
	if ours == base {
		return other, nil
	}
	b, m, o := lines(base), lines(ours), lines(other)
	crlf := isCRLF(ours)
	toOurs := textdiff.MatchLines(b, m) // base line → line of ours, or -1
	var out []string
	var conflicts []conflict
	at := 0
	foreign := !isDerived(b, toOurs)
	for _, h := range hunks(b, o) {
		before, after := b[h.From:h.To], o[h.OtherFrom:h.OtherTo]
		start, end, ok := place(toOurs, h, len(m))
		if foreign || !ok || start < at {
			if !isApplied(m, o, after, before) {
				conflicts = append(conflicts, conflict{old: before, new: after})
			}
			continue
		}
		out = append(out, m[at:start]...)
		out = append(out, after...)
		at = end
	}
	out = append(out, m[at:]...)
	return joinLines(out, crlf), conflicts
}

// isDerived reports whether ours is derived from base. In the file of another tool, matching lines such as a single
// brace do not determine the place of a change.
func isDerived(base []string, toOurs []int) bool {
	all, found := 0, 0
	for i, line := range base {
		if len(strings.TrimSpace(line)) < 3 {
			continue
		}
		all++
		if toOurs[i] >= 0 {
			found++
		}
	}
	return found*3 >= all*2
}

// isApplied reports whether ours already contains a change. The removed lines may occur in other places too, or with other
// alignment.
func isApplied(ours, other, after, before []string) bool {
	if len(after) > 0 {
		return textdiff.CountLines(ours, after) > 0
	}
	before = mapped(before, singleSpaced)
	return textdiff.CountLines(mapped(ours, singleSpaced), before) <= textdiff.CountLines(mapped(other, singleSpaced), before)
}

// isCRLF reports whether a text has lines that end in CRLF.
func isCRLF(text string) bool { return strings.Contains(text, "\r\n") }

// place finds the lines of ours that a change replaces. They must be unchanged. For an insertion, one of the adjacent
// lines must be.
func place(toOurs []int, h textdiff.Hunk, count int) (start, end int, ok bool) {
	if h.From < h.To {
		start = toOurs[h.From]
		if start < 0 {
			return 0, 0, false
		}
		for i := h.From; i < h.To; i++ {
			if toOurs[i] != start+i-h.From {
				return 0, 0, false
			}
		}
		return start, start + h.To - h.From, true
	}
	if h.From > 0 && toOurs[h.From-1] >= 0 {
		return toOurs[h.From-1] + 1, toOurs[h.From-1] + 1, true
	}
	if h.To < len(toOurs) && toOurs[h.To] >= 0 {
		return toOurs[h.To], toOurs[h.To], true
	}
	return 0, 0, count == 0
}

// lines returns the lines of a text without line ends.
func lines(text string) []string { return strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") }

// joinLines is the inverse of lines.
func joinLines(lines []string, crlf bool) string {
	if crlf {
		return strings.Join(lines, "\r\n")
	}
	return strings.Join(lines, "\n")
}

// hunks returns the differences of two texts.
func hunks(a, b []string) []textdiff.Hunk {
	return textdiff.Hunks(textdiff.MatchLines(a, b), len(b))
}
