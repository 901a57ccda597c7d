package worktree

import "github.com/operon-sdk/operon/pkg/diag"

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
