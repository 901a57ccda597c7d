package worktree

import "strings"

// Count returns the numbers of lines that a change adds and removes.
func Count(c Change) (added, removed int) {
	_, hunks, _ := strings.Cut(Diff([]Change{c}), "\n@@ ")
	for line := range strings.Lines("@@ " + hunks) {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return added, removed
}
