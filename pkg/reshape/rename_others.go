package reshape

import (
	"fmt"
	"slices"
)

// others renames and rewrites the files that are no Go code.
func (x *renamer) others(code map[string][]byte) error {
	names, err := x.tree.Walk(".", x.skipped)
	if err != nil {
		return err
	}
	for _, name := range names {
		if x.m.files[name] != nil || name == "PROJECT" || slices.Contains(x.Removed, name) {
			continue
		}
		if x.files[name] == "" && x.changes[name] == nil {
			continue
		}
		data, err := x.tree.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		text := applyChanges(string(data), x.changes[name])
		if x.files[name] != "" {
			if _, taken := code[name]; !taken {
				code[name] = nil
			}
		}
		code[x.to(name)] = []byte(text)
	}
	return nil
}
