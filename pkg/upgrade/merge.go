package upgrade

import "strings"

// A three-way merge of lines. Unlike diff3, changes of neighbouring lines do not clash: scaffolds of different
// tools share most of their lines, and what differs stands between them.

// hunk is a difference between a base and another text: lines from up to to of the base became lines
// otherFrom up to otherTo of the other.
type hunk struct{ from, to, otherFrom, otherTo int }

// chunk is a part of a merge, with the lines of all three texts that it is about.
type chunk struct {
	kind                               kind
	baseFrom, baseTo, mineFrom, mineTo int
	theirsFrom, theirsTo               int
}

// kind says what a chunk is.
type kind int

const (
	// same is alike in all three.
	same kind = iota
	// mineChanged and theirsChanged differ from the base in one of the two.
	mineChanged
	theirsChanged
	// clashing is changed in both.
	clashing
)

// match pairs lines of a base with equal lines of another text in order: the index there, or -1. The pairs have
// the greatest weight that is possible.
func match(a, b int, weight func(i int) int32, equal func(i, j int) bool) []int {
	pairs := make([]int, a)
	for i := range pairs {
		pairs[i] = -1
	}
	start := 0
	for start < a && start < b && equal(start, start) {
		pairs[start] = start
		start++
	}
	endA, endB := a, b
	for endA > start && endB > start && equal(endA-1, endB-1) {
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
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if equal(start+i, start+j) {
				common[i][j] = max(common[i][j], common[i+1][j+1]+weight(start+i))
			}
		}
	}
	for i, j := 0, 0; i < rows && j < columns; {
		switch {
		case equal(start+i, start+j) && common[i][j] == common[i+1][j+1]+weight(start+i):
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

// weigh gives a text's weight in a match: blank lines and lone braces say little about where they belong.
func weigh(text string) int32 {
	if len(strings.TrimSpace(text)) < 3 {
		return 1
	}
	return 8
}

// hunks are the differences that a matching leaves, in order.
func hunks(pairs []int, otherLen int) []hunk {
	var list []hunk
	from, otherFrom := 0, 0
	for i := 0; i <= len(pairs); i++ {
		next := otherLen
		if i < len(pairs) {
			if pairs[i] < 0 {
				continue
			}
			next = pairs[i]
		}
		if from < i || otherFrom < next {
			list = append(list, hunk{from, i, otherFrom, next})
		}
		from, otherFrom = i+1, next+1
	}
	return list
}

// touches tells whether two changes of the base cannot both be made. Changes of lines next to each other can,
// unless strict.
func touches(a, b hunk, strict bool) bool {
	if strict {
		return a.from <= b.to && b.from <= a.to
	}
	if a.from == a.to && b.from == b.to {
		return a.from == b.from
	}
	return a.from < b.to && b.from < a.to
}

// merge lays out the changes that lead from a base to mine and to theirs.
func merge(baseLen int, toMine, toTheirs []int, mineLen, theirsLen int, strict bool) []chunk {
	mine, theirs := hunks(toMine, mineLen), hunks(toTheirs, theirsLen)
	var chunks []chunk
	base, m, t := 0, 0, 0 // how far each text is laid out
	plain := func(upTo int) {
		if upTo > base {
			chunks = append(chunks, chunk{same, base, upTo, m, m + upTo - base, t, t + upTo - base})
			m, t, base = m+upTo-base, t+upTo-base, upTo
		}
	}
	for len(mine) > 0 || len(theirs) > 0 {
		var h hunk
		var fromMine, fromTheirs bool
		switch {
		case len(theirs) == 0 || len(mine) > 0 && before(mine[0], theirs[0]):
			h, mine, fromMine = mine[0], mine[1:], true
		default:
			h, theirs, fromTheirs = theirs[0], theirs[1:], true
		}
		for grown := true; grown; {
			grown = false
			for len(mine) > 0 && touches(h, mine[0], strict && fromTheirs) {
				h.from, h.to = min(h.from, mine[0].from), max(h.to, mine[0].to)
				mine, fromMine, grown = mine[1:], true, true
			}
			for len(theirs) > 0 && touches(h, theirs[0], strict && fromMine) {
				h.from, h.to = min(h.from, theirs[0].from), max(h.to, theirs[0].to)
				theirs, fromTheirs, grown = theirs[1:], true, true
			}
		}
		plain(h.from)
		c := chunk{baseFrom: h.from, baseTo: h.to, mineFrom: m, theirsFrom: t}
		switch {
		case fromMine && fromTheirs:
			c.kind = clashing
		case fromMine:
			c.kind = mineChanged
		default:
			c.kind = theirsChanged
		}
		c.mineTo, c.theirsTo = m+h.to-h.from, t+h.to-h.from
		if fromMine {
			c.mineTo = end(mine, toMine, h.to, mineLen)
		}
		if fromTheirs {
			c.theirsTo = end(theirs, toTheirs, h.to, theirsLen)
		}
		chunks = append(chunks, c)
		base, m, t = h.to, c.mineTo, c.theirsTo
	}
	plain(baseLen)
	return chunks
}

// before orders changes of two texts; of two at one place an insertion is the first.
func before(a, b hunk) bool {
	return a.from < b.from || a.from == b.from && a.to <= b.to
}

// end is where the other text is after all its changes up to a line of the base.
func end(rest []hunk, pairs []int, upTo, otherLen int) int {
	if len(rest) > 0 && rest[0].from == upTo {
		return rest[0].otherFrom
	}
	if upTo < len(pairs) {
		return pairs[upTo]
	}
	return otherLen
}
