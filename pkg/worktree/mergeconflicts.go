package worktree

import (
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// noteConflicts records the merge conflicts of a file that was read from disk.
func (t *Tree) noteConflicts(name string, data []byte) {
	conflicts := textdiff.ConflictFindings(name, data)
	if conflicts == nil || canContainMarkers(name, data) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conflicts = append(t.conflicts, conflicts...)
}

// canContainMarkers reports whether conflict markers may be part of the content of a file: in documents, test data, and
// strings and comments of Go code.
func canContainMarkers(name string, data []byte) bool {
	if path.Ext(name) == ".go" {
		_, err := parser.ParseFile(token.NewFileSet(), "", data, parser.SkipObjectResolution)
		return err == nil
	}
	return path.Ext(name) == ".md" || slices.Contains(strings.Split(name, "/"), "testdata")
}

// CheckConflicts returns an error if files that were read from disk contain merge conflicts, and still do with the changes of
// the tree: one message with a finding at the first conflict of each file.
func (t *Tree) CheckConflicts() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(t.conflicts), func(f diag.Finding) bool {
		o := t.over[f.File]
		return o != nil && (o.deleted || len(textdiff.Conflicts(o.data)) == 0)
	})
	if len(left) == 0 {
		return nil
	}
	return diag.Lines("", left.Sort()) // without repetitions of files that were read several times
}
