package gotool

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/operon-sdk/operon/pkg/worktree"
)

// Vendor updates the vendor directory of a tree as go mod vendor does. The error is an *Error if the code imports a
// package that no requirement provides.
func (g Go) Vendor(ctx context.Context, tree *worktree.Tree) error {
	w, err := newWorkspace(tree)
	if err != nil {
		return err
	}
	defer w.remove()
	if err := g.mod(ctx, tree, w, "vendor", "-o="+w.file("vendor")); err != nil {
		return err
	}
	left, err := tree.Walk("vendor", nil)
	if err != nil {
		return fmt.Errorf("listing the vendored files: %w", err)
	}
	old := map[string]bool{}
	for _, name := range left {
		old[name] = true
	}
	vendored := os.DirFS(w.dir.Path)
	err = fs.WalkDir(vendored, "vendor", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		delete(old, name)
		text, err := fs.ReadFile(vendored, name)
		if err != nil {
			return err
		}
		if before, err := tree.ReadFile(name); err != nil || !bytes.Equal(before, text) {
			tree.WriteFile(name, text, 0o644) // Commit reports files that cannot be read
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the vendored files: %w", err)
	}
	for name := range old {
		tree.Remove(name)
	}
	return nil
}
