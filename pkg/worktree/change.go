package worktree

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

// Place returns the path of the file, with the former path of a moved file: "main.go -> cmd/main.go".
func (c Change) Place() string {
	if c.From != "" {
		return c.From + " -> " + c.Path
	}
	return c.Path
}

// String returns a line for users: "updated  cmd/main.go".
func (c Change) String() string { return c.Action() + "  " + c.Place() }
