package worktree

import "strings"

// Count tells how many lines a change adds and takes away.
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
