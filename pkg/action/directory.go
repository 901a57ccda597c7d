package action

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// ReadFiles returns the files below a directory, such as a chart, by their slash-separated paths in it.
func ReadFiles(tree *worktree.Tree, dir string) (map[string][]byte, error) {
	names, err := tree.Walk(dir, nil)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range names {
		content, err := tree.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, diag.Cause(err))
		}
		files[strings.TrimPrefix(name, dir+"/")] = content
	}
	return files, nil
}

// ReplaceFiles replaces the files below a directory, which ReadFiles has returned, by others.
func ReplaceFiles(tree *worktree.Tree, dir string, current, next map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(current)) {
		if _, ok := next[name]; !ok {
			tree.Remove(path.Join(dir, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(next)) {
		file := path.Join(dir, name)
		if err := tree.Blocked(file); err != nil {
			return err
		}
		tree.WriteFile(file, next[name], worktree.FileMode)
	}
	return nil
}
