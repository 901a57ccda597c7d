package textdiff

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
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

// ConflictFindings returns the merge conflicts of a file as one finding at the first of them, or nil if there are none.
func ConflictFindings(name string, text []byte) diag.Findings {
	conflicts := Conflicts(text)
	if len(conflicts) == 0 {
		return nil
	}
	var lines []string
	for _, c := range conflicts {
		lines = append(lines, fmt.Sprintf("%d-%d", c.First, c.Last))
	}
	problem := "merge conflict marker; resolve the conflict (lines " + lines[0] + ")"
	if len(lines) > 1 {
		problem = "merge conflict markers; resolve the conflicts (lines " + strings.Join(lines, ", ") + ")"
	}
	return diag.Findings{{Position: diag.Position{File: name, Line: conflicts[0].First}, Problem: problem}}
}
