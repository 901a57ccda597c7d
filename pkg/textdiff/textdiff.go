// Package textdiff compares texts by lines with Match and Hunks, edits texts with Apply, finds merge conflicts with
// Conflicts, and converts line ends.
package textdiff

// A Hunk is a difference between two texts: lines From up to To of one text correspond to lines OtherFrom up to OtherTo
// of the other, counted from 0; the upper ends are exclusive.
type Hunk struct{ From, To, OtherFrom, OtherTo int }

// match pairs the a lines of a text with equal lines of another text of b lines in order, and returns their indexes
// there, or -1. Differing parts of up to maxCells pairs are matched with the greatest possible weight. Larger parts are
// matched greedily, so that time and memory are bounded.
func match(a, b int, weight func(i int) int32, equal func(i, j int) bool) []int {
	m := &matcher{endA: a, endB: b, weight: weight, equal: equal, pairs: make([]int, a)}
	for i := range m.pairs {
		m.pairs[i] = -1
	}
	for m.a < m.endA && m.b < m.endB && equal(m.a, m.b) {
		m.pairs[m.a] = m.b
		m.a, m.b = m.a+1, m.b+1
	}
	for m.endA > m.a && m.endB > m.b && equal(m.endA-1, m.endB-1) {
		m.endA, m.endB = m.endA-1, m.endB-1
		m.pairs[m.endA] = m.endB
	}
	for int64(m.endA-m.a)*int64(m.endB-m.b) > maxCells {
		m.advance()
	}
	m.exact()
	return m.pairs
}

// A matcher matches the lines a to endA of a text with the lines b to endB of another.
type matcher struct {
	a, endA, b, endB int
	weight           func(i int) int32
	equal            func(i, j int) bool
	pairs            []int
	// furthest[d][(k+d)/2] is the greatest number of lines of a that a path with d unpaired lines, k more of a than of
	// b, passes, or -1 if there is no such path. It belongs to advance.
	furthest [][]int32
}

// maxCells limits the table of exact, which needs two bits for a pair of lines: 32 MiB.
const maxCells = 1 << 27

// exact pairs the lines with the greatest weight.
func (m *matcher) exact() {
	const skipB, skipA, take = 0, 1, 2
	rows, columns := m.endA-m.a, m.endB-m.b
	steps := make([]byte, (rows*columns+3)/4)
	below, row := make([]int32, columns+1), make([]int32, columns+1) // greatest weights from here
	for i := rows - 1; i >= 0; i-- {
		w := m.weight(m.a + i)
		for j := columns - 1; j >= 0; j-- {
			step := skipB
			if below[j] >= row[j+1] {
				step = skipA
			}
			row[j] = max(below[j], row[j+1])
			if m.equal(m.a+i, m.b+j) && below[j+1]+w >= row[j] {
				step, row[j] = take, below[j+1]+w
			}
			cell := i*columns + j
			steps[cell/4] |= byte(step << (cell % 4 * 2))
		}
		below, row = row, below
	}
	for i, j := 0, 0; i < rows && j < columns; {
		cell := i*columns + j
		switch steps[cell/4] >> (cell % 4 * 2) & 3 {
		case take:
			m.pairs[m.a+i] = m.b + j
			i, j = i+1, j+1
		case skipA:
			i++
		default:
			j++
		}
	}
}

// maxEdits limits the unpaired lines on the path of advance, whose time and memory grow with their square: 8 MiB.
const maxEdits = 2048

// advance pairs lines on the furthest path with maxEdits unpaired lines, as in "An O(ND) Difference Algorithm and Its
// Variations" by Myers, and continues after them.
func (m *matcher) advance() {
	rows, columns := m.endA-m.a, m.endB-m.b
	// start returns the start of the pairs at the end of such a path.
	start := func(d, k int) (x, fromK int) {
		if d == 0 {
			return 0, 0
		}
		x = -1
		if before := (k + d) / 2; before <= d-1 { // past a line of b
			if at := int(m.furthest[d-1][before]); at >= 0 && at-k <= columns {
				x, fromK = at, k+1
			}
		}
		if before := (k+d)/2 - 1; before >= 0 { // past a line of a
			if at := int(m.furthest[d-1][before]); at >= 0 && at < rows && at+1 > x {
				x, fromK = at+1, k-1
			}
		}
		return x, fromK
	}
	bestD, bestK, most := 0, 0, -1
	for d := 0; d <= maxEdits && most < rows+columns; d++ {
		if len(m.furthest) == d {
			m.furthest = append(m.furthest, make([]int32, d+1))
		}
		for k := -d; k <= d; k += 2 {
			x, _ := start(d, k)
			for x >= 0 && x < rows && x-k < columns && m.equal(m.a+x, m.b+x-k) {
				x++
			}
			m.furthest[d][(k+d)/2] = int32(x)
			if x >= 0 && 2*x-k > most {
				bestD, bestK, most = d, k, 2*x-k
			}
		}
	}
	end := int(m.furthest[bestD][(bestK+bestD)/2])
	for x, d, k := end, bestD, bestK; d >= 0; d-- {
		from, fromK := start(d, k)
		for ; x > from; x-- {
			m.pairs[m.a+x-1] = m.b + x - 1 - k
		}
		x, k = from-max(k-fromK, 0), fromK
	}
	m.a, m.b = m.a+end, m.b+end-bestK
}

// MatchLines pairs as many lines of a as possible with equal lines of b in order; -1 for those without.
func MatchLines(a, b []string) []int {
	return match(len(a), len(b), func(int) int32 { return 1 }, func(i, j int) bool { return a[i] == b[j] })
}

// Hunks returns the differences of a matching in order. The other text has otherLen lines.
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
