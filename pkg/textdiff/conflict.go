package textdiff

import (
	"bytes"
	"fmt"
	"strings"
)

// A Conflict is a part of a text that is marked as an unresolved merge conflict. Lines count from 1.
type Conflict struct{ First, Last int }

// Conflicts finds the merge conflicts of a text as git marks them: lines that start with seven of <, = and >, in this
// order, of which the first and the last name a side.
func Conflicts(text []byte) []Conflict {
	if !bytes.HasPrefix(text, []byte("<<<<<<< ")) && !bytes.Contains(text, []byte("\n<<<<<<< ")) {
		return nil
	}
	var found []Conflict
	first, divided, number := 0, false, 0
	for line := range bytes.Lines(text) {
		number++
		switch {
		case bytes.HasPrefix(line, []byte("<<<<<<< ")):
			first, divided = number, false
		case first > 0 && string(bytes.TrimRight(line, "\r\n")) == "=======":
			divided = true
		case divided && bytes.HasPrefix(line, []byte(">>>>>>> ")):
			found = append(found, Conflict{first, number})
			first, divided = 0, false
		}
	}
	return found
}

// ConflictProblem describes the conflicts of one text, of which there is at least one. The position is that of the first.
func ConflictProblem(conflicts []Conflict) string {
	var lines []string
	for _, c := range conflicts {
		lines = append(lines, fmt.Sprintf("%d-%d", c.First, c.Last))
	}
	if len(lines) == 1 {
		return "merge conflict marker; resolve the conflict (lines " + lines[0] + ")"
	}
	return "merge conflict markers; resolve the conflicts (lines " + strings.Join(lines, ", ") + ")"
}
