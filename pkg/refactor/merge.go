package refactor

import (
	"slices"
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
func merge(base, mine, other string) (string, []conflict) {
	if mine == base {
		return other, nil
	}
	b, m, o := lines(base), lines(mine), lines(other)
	crlf := strings.Contains(mine, "\r\n")
	toMine := textdiff.MatchLines(b, m) // base line → line of ours, or -1
	var out []string
	var conflicts []conflict
	at := 0
	foreign := !isDerived(b, toMine)
	for _, h := range hunks(b, o) {
		before, after := b[h.From:h.To], o[h.OtherFrom:h.OtherTo]
		start, end, ok := place(toMine, h, len(m))
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
	text := strings.Join(out, "\n")
	if crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text, conflicts
}

// isDerived reports whether ours is derived from base. In the file of another tool, matching lines such as a single
// brace do not determine the place of a change.
func isDerived(base []string, toMine []int) bool {
	all, found := 0, 0
	for i, line := range base {
		if len(strings.TrimSpace(line)) < 3 {
			continue
		}
		all++
		if toMine[i] >= 0 {
			found++
		}
	}
	return found*3 >= all*2
}

// isApplied reports whether ours already contains a change. The removed lines may occur in other places too, or with other
// alignment.
func isApplied(mine, other, after, before []string) bool {
	if len(after) > 0 {
		return contains(mine, after)
	}
	before = mapped(before, singleSpaced)
	return count(mapped(mine, singleSpaced), before) <= count(mapped(other, singleSpaced), before)
}

func contains(whole, part []string) bool { return count(whole, part) > 0 }

// count returns how often part occurs in lines.
func count(whole, part []string) int {
	n := 0
	for i := 0; i+len(part) <= len(whole); i++ {
		if slices.Equal(whole[i:i+len(part)], part) {
			n++
		}
	}
	return n
}

// place finds the lines of ours that a change replaces. They must be unchanged. For an insertion, one of the adjacent
// lines must be.
func place(toMine []int, h textdiff.Hunk, count int) (start, end int, ok bool) {
	if h.From < h.To {
		start = toMine[h.From]
		if start < 0 {
			return 0, 0, false
		}
		for i := h.From; i < h.To; i++ {
			if toMine[i] != start+i-h.From {
				return 0, 0, false
			}
		}
		return start, start + h.To - h.From, true
	}
	if h.From > 0 && toMine[h.From-1] >= 0 {
		return toMine[h.From-1] + 1, toMine[h.From-1] + 1, true
	}
	if h.To < len(toMine) && toMine[h.To] >= 0 {
		return toMine[h.To], toMine[h.To], true
	}
	return 0, 0, count == 0
}

func lines(text string) []string { return strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") }

// hunks returns the differences of two texts.
func hunks(a, b []string) []textdiff.Hunk {
	return textdiff.Hunks(textdiff.MatchLines(a, b), len(b))
}
