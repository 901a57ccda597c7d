package worktree

import (
	"io/fs"
	"path"
)

// Move renames a file and sets its content. It keeps its mode.
func (t *Tree) Move(from, to string, data []byte) {
	from, to = path.Clean(from), path.Clean(to)
	mode := fs.FileMode(FileMode)
	if info, err := t.fs.Stat(t.abs(from)); err == nil {
		mode = info.Mode().Perm()
	}
	t.Remove(from)
	t.WriteFile(to, data, mode)
	if t.moved == nil {
		t.moved = map[string]string{}
	}
	t.moved[to] = from
}

// Paired merges the two changes of each moved file into one with the new path in Path and the old one in From.
func (t *Tree) Paired(changes []Change) []Change {
	if len(t.moved) == 0 {
		return changes
	}
	gone := map[string]Change{}
	for _, c := range changes {
		if c.New == nil {
			gone[c.Path] = c
		}
	}
	told := map[string]bool{}
	for i, c := range changes {
		if old, ok := gone[t.moved[c.Path]]; ok && c.Old == nil {
			changes[i].From, changes[i].Old = old.Path, old.Old
			told[old.Path] = true
		}
	}
	var paired []Change
	for _, c := range changes {
		if !told[c.Path] || c.New != nil {
			paired = append(paired, c)
		}
	}
	return paired
}
