// Package textdiff finds which lines of two texts are the same, and what differs between them; it also edits texts in
// places.
package textdiff

// Hunk is a difference between two texts: lines From up to To of one became lines OtherFrom up to OtherTo of the
// other, counted from 0; the upper ends do not belong to it.
type Hunk struct{ From, To, OtherFrom, OtherTo int }

// Match pairs lines of a text of a lines with equal lines of another text of b lines in order: the index there, or -1.
// The pairs have the greatest weight that is possible.
func Match(a, b int, weight func(i int) int32, equal func(i, j int) bool) []int {
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

// MatchLines pairs the lines of a with equal lines of b in order, as many as possible; -1 for those without.
func MatchLines(a, b []string) []int {
	return Match(len(a), len(b), func(int) int32 { return 1 }, func(i, j int) bool { return a[i] == b[j] })
}

// Hunks are the differences that a matching leaves, in order. The other text has otherLen lines.
func Hunks(pairs []int, otherLen int) []Hunk {
	var list []Hunk
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
			list = append(list, Hunk{from, i, otherFrom, next})
		}
		from, otherFrom = i+1, next+1
	}
	return list
}
