package worktree

// Action says in a word what a change does: created, updated, deleted or moved.
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

// Place names the file, and of one that moves where it was: "main.go -> cmd/main.go".
func (c Change) Place() string {
	if c.From != "" {
		return c.From + " -> " + c.Path
	}
	return c.Path
}

// String is a line about the change for people: "updated  cmd/main.go".
func (c Change) String() string { return c.Action() + "  " + c.Place() }
