package gotool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/operon-sdk/operon/pkg/scaffold"
)

// Tidy runs go mod tidy on a tree, whose changes need not be on disk yet. The error is an *Error if the code keeps go.mod
// from being tidied.
func (g Go) Tidy(ctx context.Context, tree *scaffold.Tree) error {
	w, err := newWorkspace(tree)
	if err != nil {
		return err
	}
	defer w.remove()
	_, err = g.Run(ctx, Command{
		Dir: tree.Root(), Mod: w.mod["go.mod"], Variables: []string{"GOWORK=off"}, before: w.writeMod,
		Args: []string{"mod", "tidy", "-modfile=" + w.file("go.mod"), w.overlay()},
	})
	if err != nil {
		return err
	}
	for name, before := range w.mod {
		after, err := os.ReadFile(w.file(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading the tidied %s: %w", name, err)
		}
		if !slices.Equal(before, after) {
			tree.WriteFile(name, after, 0o644)
		}
	}
	return nil
}

// Download makes sure that the module cache holds what the packages and tests of a tree need. What else is wrong with
// them is no error.
func (g Go) Download(ctx context.Context, tree *scaffold.Tree) error {
	w, err := newWorkspace(tree)
	if err != nil {
		return err
	}
	defer w.remove()
	_, err = g.Run(ctx, Command{Dir: tree.Root(), Mod: w.mod["go.mod"], Args: []string{"list", "-deps", "-test", w.overlay(), "./..."}})
	if _, ok := errors.AsType[*Error](err); ok {
		return nil
	}
	return err
}

// workspace is a temporary directory with the changes of a tree.
type workspace struct {
	tree *scaffold.Tree
	dir  string
	// mod holds go.mod and go.sum, those that the tree has.
	mod map[string][]byte
}

func newWorkspace(tree *scaffold.Tree) (*workspace, error) {
	w := &workspace{tree: tree, mod: map[string][]byte{}}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := tree.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		w.mod[name] = text
	}
	var err error
	if w.dir, err = os.MkdirTemp("", "operon-go-*"); err != nil {
		return nil, fmt.Errorf("writing the changes for the go command: %w", err)
	}
	if err := w.writeOverlay(); err != nil {
		w.remove()
		return nil, fmt.Errorf("writing the changes for the go command: %w", err)
	}
	return w, nil
}

func (w *workspace) remove() { _ = os.RemoveAll(w.dir) } // the system removes what is left of temporary files

func (w *workspace) file(name string) string { return filepath.Join(w.dir, name) }

// overlay is the flag with which the go command sees the tree.
func (w *workspace) overlay() string { return "-overlay=" + w.file("overlay.json") }

// writeMod writes go.mod and go.sum as the tree has them.
func (w *workspace) writeMod() error {
	for name, text := range w.mod {
		if err := os.WriteFile(w.file(name), text, 0o600); err != nil {
			return fmt.Errorf("writing %s for the go command: %w", name, err)
		}
	}
	return nil
}

// writeOverlay writes the tree's changes, and the file that names them to the go command.
func (w *workspace) writeOverlay() error {
	replace := map[string]string{}
	abs := func(name string) string { return filepath.Join(w.tree.Root(), filepath.FromSlash(name)) }
	for name, text := range w.tree.Overlay() {
		file := w.file(strconv.Itoa(len(replace)))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return err
		}
		replace[abs(name)] = file
	}
	for _, name := range w.tree.Removed() {
		replace[abs(name)] = ""
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(w.file("overlay.json"), text, 0o600)
}
