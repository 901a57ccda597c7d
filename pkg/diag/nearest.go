package diag

import "strings"

// Nearest returns the candidate that a misspelled word most likely means: the one with the fewest insertions, deletions,
// replacements and swaps of neighboring letters, ignoring case. It returns "" if that candidate differs in more than a third of
// the word. Of several equally near candidates the first is returned.
func Nearest(word string, candidates []string) (string, bool) {
	lower := strings.ToLower(word)
	best, bestDistance := "", -1
	for _, candidate := range candidates {
		d := editDistance(lower, strings.ToLower(candidate))
		if bestDistance < 0 || d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	limit := max(1, len([]rune(lower))/3)
	if bestDistance < 0 || bestDistance > limit || word == "" {
		return "", false
	}
	return best, true
}

// editDistance returns the optimal string alignment distance of two words: the Damerau-Levenshtein distance without repeated
// edits of the same letters.
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	// Such words are never near. This also limits the size of the table.
	if d := len(x) - len(y); d > 16 || d < -16 {
		return max(d, -d)
	}
	before, previous, current := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(x); i++ {
		current[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			current[j] = min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		before, previous, current = previous, current, before
	}
	return previous[len(y)]
}
