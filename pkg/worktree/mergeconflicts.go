package worktree

import (
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/textdiff"
)

// MergeConflictError reports the unresolved merge conflicts of a project by file.
type MergeConflictError map[string][]textdiff.Conflict

func (e MergeConflictError) Error() string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(e)) {
		lines = append(lines, name+":"+strconv.Itoa(e[name][0].First)+": "+textdiff.ConflictProblem(e[name]))
	}
	return strings.Join(lines, "\n")
}

// noteConflicts records the merge conflicts of a file that was read from disk.
func (t *Tree) noteConflicts(name string, data []byte) {
	conflicts := textdiff.Conflicts(data)
	if len(conflicts) == 0 || canContainMarkers(name, data) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.conflicts == nil {
		t.conflicts = MergeConflictError{}
	}
	t.conflicts[name] = conflicts
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

// CheckConflicts returns a MergeConflictError if files that were read from disk contain merge conflicts, and still do
// with the changes of the tree.
func (t *Tree) CheckConflicts() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := maps.Clone(t.conflicts)
	maps.DeleteFunc(left, func(name string, _ []textdiff.Conflict) bool {
		o := t.over[name]
		return o != nil && (o.deleted || len(textdiff.Conflicts(o.data)) == 0)
	})
	if len(left) == 0 {
		return nil
	}
	return left
}
