package scaffold

// Action says what a change does to its file: created, updated or deleted.
func (c Change) Action() string {
	switch {
	case c.Old == nil:
		return "created"
	case c.New == nil:
		return "deleted"
	}
	return "updated"
}

// String is a line about the change for people: "updated  cmd/main.go".
func (c Change) String() string { return c.Action() + "  " + c.Path }
