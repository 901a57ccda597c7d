package worktree

import (
	"fmt"

	"github.com/operon-sdk/operon/pkg/diag"
)

// Action returns the kind of the change: created, updated, deleted or moved.
func (c Change) Action() string {
	switch {
	case c.From != "":
		return "moved"
	case c.Old == nil:
		return "created"
	case c.New == nil:
		return "deleted"
	}
	return "updated"
}

// Place returns the escaped path of the file, with the former path of a moved file: "main.go -> cmd/main.go".
func (c Change) Place() string {
	if c.From != "" {
		return diag.EscapeLine(c.From) + " -> " + diag.EscapeLine(c.Path)
	}
	return diag.EscapeLine(c.Path)
}

// String returns a line for users: "updated  cmd/main.go".
func (c Change) String() string { return c.Action() + "  " + c.Place() }

// ChangedError reports files that changed on disk after the tree had read them.
type ChangedError struct{ Paths []string }

func (e *ChangedError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the files with a heading and the next step.
func (e *ChangedError) Unwrap() error {
	what := "this file was"
	if len(e.Paths) > 1 {
		what = fmt.Sprintf("these %d files were", len(e.Paths))
	}
	var files diag.Findings
	for _, name := range e.Paths {
		files = append(files, diag.Place(diag.Position{File: name}, "", "was changed meanwhile by another process"))
	}
	return diag.List(what+" changed meanwhile by another process, nothing was written:", files, "run the command again")
}
