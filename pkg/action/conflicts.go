package action

import (
	"errors"
	"fmt"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// ErrConflicts means that an upgrade left conflicts to the user.
var ErrConflicts = errors.New("there are conflicts")

// ConflictError returns the error for files in which an update marked conflicts. other is the other side, next what to do afterwards.
func (p *Project) ConflictError(other string, names []string, next string) error {
	var files diag.Findings
	for _, name := range names {
		file := diag.Place(diag.Position{File: name}, "", fmt.Sprintf("you and %s have changed the same lines", other))
		if data, err := p.Files.ReadFile(name); err == nil {
			if marked := textdiff.Conflicts(data); len(marked) > 0 {
				file.Line = marked[0].First
			}
		}
		file.Err = ErrConflicts
		files = append(files, file)
	}
	return diag.List(fmt.Sprintf("%v: you and %s have changed the same lines of", ErrConflicts, other), files,
		"choose between the lines marked there, then run "+next)
}

// ConflictSides returns the values of --conflict: which side wins where the user and an update changed the same lines.
func ConflictSides() map[string]merge.Side {
	return map[string]merge.Side{"": merge.Markers, "ours": merge.Ours, "theirs": merge.Theirs}
}
