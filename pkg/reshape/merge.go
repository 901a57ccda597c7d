package reshape

import (
	"slices"
	"strings"
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
	toMine := match(b, m) // base line → mine line, or -1
	var out []string
	var clashes []clash
	at := 0
	foreign := !alike(b, toMine)
	for _, h := range hunks(b, o) {
		was, is := b[h.from:h.to], o[h.otherFrom:h.otherTo]
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

// done tells that mine says already what a change to other is to make it say. Lines that go may stand
// elsewhere too.
func done(mine, other, is, was []string) bool {
	return len(is) > 0 && contains(mine, is) || len(is) == 0 && times(mine, was) <= times(other, was)
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
func place(toMine []int, h hunk, count int) (start, end int, ok bool) {
	if h.from < h.to {
		start = toMine[h.from]
		if start < 0 {
			return 0, 0, false
		}
		for i := h.from; i < h.to; i++ {
			if toMine[i] != start+i-h.from {
				return 0, 0, false
			}
		}
		return start, start + h.to - h.from, true
	}
	if h.from > 0 && toMine[h.from-1] >= 0 {
		return toMine[h.from-1] + 1, toMine[h.from-1] + 1, true
	}
	if h.to < len(toMine) && toMine[h.to] >= 0 {
		return toMine[h.to], toMine[h.to], true
	}
	return 0, 0, count == 0
}

func lines(text string) []string { return strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") }

// hunk is a difference of two texts: lines from up to to of one, otherFrom up to otherTo of the other.
type hunk struct{ from, to, otherFrom, otherTo int }

func hunks(a, b []string) []hunk {
	var list []hunk
	i, j := 0, 0
	matched := match(a, b)
	for i <= len(a) {
		if i < len(a) && matched[i] < 0 {
			i++
			continue
		}
		next := len(b)
		if i < len(a) {
			next = matched[i]
		}
		from := i
		for from > 0 && matched[from-1] < 0 {
			from--
		}
		if from < i || j < next {
			list = append(list, hunk{from, i, j, next})
		}
		i, j = i+1, next+1
	}
	return list
}

// match pairs the lines of a with equal lines of b in order, as many as possible; -1 for those without.
func match(a, b []string) []int {
	pairs := make([]int, len(a))
	for i := range pairs {
		pairs[i] = -1
	}
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		pairs[start] = start
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
		pairs[endA] = endB
	}
	rows, columns := endA-start, endB-start
	common := make([][]int32, rows+1)
	for i := range common {
		common[i] = make([]int32, columns+1)
	}
	for i := rows - 1; i >= 0; i-- {
		for j := columns - 1; j >= 0; j-- {
			if a[start+i] == b[start+j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < rows && j < columns; {
		switch {
		case a[start+i] == b[start+j]:
			pairs[start+i] = start + j
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}
