package refactor

import (
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/textdiff"
)

// clash is a change that a person's own change of the same lines keeps from being made.
type clash struct {
	// was are the scaffold's lines before, is those after.
	was, is []string
}

// merge makes in mine the changes that lead from base to other, line by line. Changes of lines that differ
// in mine are left out and returned.
func merge(base, mine, other string) (string, []clash) {
	if mine == base {
		return other, nil
	}
	b, m, o := lines(base), lines(mine), lines(other)
	crlf := strings.Contains(mine, "\r\n")
	toMine := textdiff.MatchLines(b, m) // base line → mine line, or -1
	var out []string
	var clashes []clash
	at := 0
	foreign := !alike(b, toMine)
	for _, h := range between(b, o) {
		was, is := b[h.From:h.To], o[h.OtherFrom:h.OtherTo]
		start, end, ok := place(toMine, h, len(m))
		if foreign || !ok || start < at {
			if !done(m, o, is, was) {
				clashes = append(clashes, clash{was: was, is: is})
			}
			continue
		}
		out = append(out, m[at:start]...)
		out = append(out, is...)
		at = end
	}
	out = append(out, m[at:]...)
	text := strings.Join(out, "\n")
	if crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text, clashes
}

// alike tells whether mine stems from base. In a file that another tool wrote, lines such as a lone brace
// are no sign of where a change belongs.
func alike(base []string, toMine []int) bool {
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

// done reports whether mine holds already what a change to other leads to. Lines that the change removes may be in
// other places too, and may be aligned in another way.
func done(mine, other, is, was []string) bool {
	if len(is) > 0 {
		return contains(mine, is)
	}
	was = mapped(was, spaced)
	return times(mapped(mine, spaced), was) <= times(mapped(other, spaced), was)
}

func contains(whole, part []string) bool { return times(whole, part) > 0 }

// times counts how often part stands in whole.
func times(whole, part []string) int {
	n := 0
	for i := 0; i+len(part) <= len(whole); i++ {
		if slices.Equal(whole[i:i+len(part)], part) {
			n++
		}
	}
	return n
}

// place finds the lines of mine that a change replaces. They must be there unchanged; where the change
// only adds, one of the lines around it must be.
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

// between are the differences of two texts, as lines.
func between(a, b []string) []textdiff.Hunk {
	return textdiff.Hunks(textdiff.MatchLines(a, b), len(b))
}
