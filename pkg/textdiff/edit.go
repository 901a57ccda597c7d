package textdiff

import "slices"

// An Edit replaces the bytes From up to To of a text; the upper end is exclusive.
type Edit struct {
	From, To int
	Text     string
}

// Apply applies edits in any order. An edit that begins within an earlier one is skipped.
func Apply(text []byte, edits []Edit) []byte {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b Edit) int { return a.From - b.From })
	var out []byte
	at := 0
	for _, e := range sorted {
		if e.From < at {
			continue
		}
		out = append(append(out, text[at:e.From]...), e.Text...)
		at = e.To
	}
	return append(out, text[at:]...)
}
