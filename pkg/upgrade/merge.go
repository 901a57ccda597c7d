package upgrade

import (
	"strings"

	"github.com/operon-sdk/operon/pkg/textdiff"
)

// A three-way merge of lines. Unlike diff3, changes of neighbouring lines do not clash: scaffolds of different
// tools share most of their lines, and what differs stands between them.

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

// weigh gives a text's weight in a match: blank lines and lone braces say little about where they belong.
func weigh(text string) int32 {
	if len(strings.TrimSpace(text)) < 3 {
		return 1
	}
	return 8
}

// touches tells whether two changes of the base cannot both be made. Changes of lines next to each other can,
// unless strict.
func touches(a, b textdiff.Hunk, strict bool) bool {
	if strict {
		return a.From <= b.To && b.From <= a.To
	}
	if a.From == a.To && b.From == b.To {
		return a.From == b.From
	}
	return a.From < b.To && b.From < a.To
}

// merge lays out the changes that lead from a base to mine and to theirs.
func merge(baseLen int, toMine, toTheirs []int, mineLen, theirsLen int, strict bool) []chunk {
	mine, theirs := textdiff.Hunks(toMine, mineLen), textdiff.Hunks(toTheirs, theirsLen)
	var chunks []chunk
	base, m, t := 0, 0, 0 // how far each text is laid out
	plain := func(upTo int) {
		if upTo > base {
			chunks = append(chunks, chunk{same, base, upTo, m, m + upTo - base, t, t + upTo - base})
			m, t, base = m+upTo-base, t+upTo-base, upTo
		}
	}
	for len(mine) > 0 || len(theirs) > 0 {
		var h textdiff.Hunk
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
				h.From, h.To = min(h.From, mine[0].From), max(h.To, mine[0].To)
				mine, fromMine, grown = mine[1:], true, true
			}
			for len(theirs) > 0 && touches(h, theirs[0], strict && fromMine) {
				h.From, h.To = min(h.From, theirs[0].From), max(h.To, theirs[0].To)
				theirs, fromTheirs, grown = theirs[1:], true, true
			}
		}
		plain(h.From)
		c := chunk{baseFrom: h.From, baseTo: h.To, mineFrom: m, theirsFrom: t}
		switch {
		case fromMine && fromTheirs:
			c.kind = clashing
		case fromMine:
			c.kind = mineChanged
		default:
			c.kind = theirsChanged
		}
		c.mineTo, c.theirsTo = m+h.To-h.From, t+h.To-h.From
		if fromMine {
			c.mineTo = end(mine, toMine, h.To, mineLen)
		}
		if fromTheirs {
			c.theirsTo = end(theirs, toTheirs, h.To, theirsLen)
		}
		chunks = append(chunks, c)
		base, m, t = h.To, c.mineTo, c.theirsTo
	}
	plain(baseLen)
	return chunks
}

// before orders changes of two texts; of two at one place an insertion is the first.
func before(a, b textdiff.Hunk) bool {
	return a.From < b.From || a.From == b.From && a.To <= b.To
}

// end is where the other text is after all its changes up to a line of the base.
func end(rest []textdiff.Hunk, pairs []int, upTo, otherLen int) int {
	if len(rest) > 0 && rest[0].From == upTo {
		return rest[0].OtherFrom
	}
	if upTo < len(pairs) {
		return pairs[upTo]
	}
	return otherLen
}
