package gotool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/operon-sdk/operon/pkg/tempdir"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Tidy runs go mod tidy on a tree. The error is an *Error if the code prevents it.
func (g Go) Tidy(ctx context.Context, tree *worktree.Tree) error {
	w, err := newWorkspace(tree)
	if err != nil {
		return err
	}
	defer w.remove()
	if err := g.mod(ctx, tree, w, "tidy"); err != nil {
		return err
	}
	return w.readMod()
}

// mod runs a subcommand of go mod in a workspace of the tree.
func (g Go) mod(ctx context.Context, tree *worktree.Tree, w *workspace, args ...string) error {
	_, err := g.Run(ctx, Command{
		Dir: tree.Root(), Mod: w.mod["go.mod"], Variables: []string{"GOWORK=off"}, before: w.writeMod,
		Args: slices.Concat([]string{"mod"}, args, []string{"-modfile=" + w.file("go.mod"), w.overlay()}),
	})
	return err
}

// Get adds the requirements of a package or module to the go.mod of a tree, as go get does: path@version, or a path for
// the latest version. It always uses the network. The error is a *MissingError if that is forbidden or fails.
func (g Go) Get(ctx context.Context, tree *worktree.Tree, path string) error {
	s, err := g.settings(ctx, tree.Root())
	if err != nil {
		return err
	}
	missing := &MissingError{Modules: []string{path}, Forbidden: g.forbidden(s)}
	if missing.Forbidden != "" {
		return missing
	}
	w, err := newWorkspace(tree)
	if err != nil {
		return err
	}
	defer w.remove()
	get := g.attempt(ctx, Command{
		Dir: tree.Root(), Variables: []string{"GOWORK=off"}, before: w.writeMod,
		Args: []string{"get", "-modfile=" + w.file("go.mod"), w.overlay(), path},
	}, nil, downloads(g.Progress))
	if get.err != nil {
		return get.err
	}
	if get.failed {
		missing.Reason = get.reason()
		return missing
	}
	return w.readMod()
}

// Download downloads the modules that the packages and tests of a tree need, including nested modules' packages. Other
// errors in the packages are ignored.
func (g Go) Download(ctx context.Context, tree *worktree.Tree) error {
	w, err := newWorkspace(tree)
	if err != nil {
		return err
	}
	defer w.remove()
	names, err := tree.Walk(".", func(dir string) bool {
		base := path.Base(dir)
		return base[0] == '.' || base[0] == '_' || base == "testdata" || base == "vendor"
	})
	if err != nil {
		return fmt.Errorf("listing the modules of the project: %w", err)
	}
	for _, name := range names {
		if path.Base(name) != "go.mod" {
			continue
		}
		mod, err := tree.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		dir := filepath.Join(tree.Root(), filepath.FromSlash(path.Dir(name)))
		_, err = g.Run(ctx, Command{Dir: dir, Mod: mod, Args: []string{"list", "-deps", "-test", w.overlay(), "./..."}})
		if _, ok := errors.AsType[*Error](err); err != nil && !ok {
			return err
		}
	}
	return nil
}

// workspace is a temporary directory with the changes of a tree.
type workspace struct {
	tree *worktree.Tree
	dir  *tempdir.Dir
	// mod holds the existing ones of go.mod and go.sum.
	mod map[string][]byte
}

func newWorkspace(tree *worktree.Tree) (*workspace, error) {
	w := &workspace{tree: tree, mod: map[string][]byte{}}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := tree.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		w.mod[name] = text
	}
	var err error
	if w.dir, err = tempdir.New("", "go-mod"); err != nil {
		return nil, fmt.Errorf("writing the changes for the go command: %w", err)
	}
	if err := w.writeOverlay(); err != nil {
		w.remove()
		return nil, fmt.Errorf("writing the changes for the go command: %w", err)
	}
	return w, nil
}

func (w *workspace) remove() { _ = w.dir.Remove() } // later commands remove what remains

func (w *workspace) file(name string) string { return filepath.Join(w.dir.Path, name) }

// overlay returns the flag with which the go command reads the tree.
func (w *workspace) overlay() string { return "-overlay=" + w.file("overlay.json") }

// writeMod writes go.mod and go.sum of the tree.
func (w *workspace) writeMod() error {
	for name, text := range w.mod {
		if err := os.WriteFile(w.file(name), text, 0o600); err != nil {
			return fmt.Errorf("writing %s for the go command: %w", name, err)
		}
	}
	return nil
}

// readMod copies the go.mod and go.sum that the go command has changed to the tree.
func (w *workspace) readMod() error {
	for name, before := range w.mod {
		after, err := os.ReadFile(w.file(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading the changed %s: %w", name, err)
		}
		if !slices.Equal(before, after) {
			w.tree.WriteFile(name, after, 0o644)
		}
	}
	return nil
}

// writeOverlay writes the changes of the tree, and the file that lists them for the go command.
func (w *workspace) writeOverlay() error {
	replace := map[string]string{}
	abs := func(name string) string { return filepath.Join(w.tree.Root(), filepath.FromSlash(name)) }
	for name, text := range w.tree.Edits() {
		if text == nil {
			replace[abs(name)] = ""
			continue
		}
		file := w.file(strconv.Itoa(len(replace)))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return err
		}
		replace[abs(name)] = file
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(w.file("overlay.json"), text, 0o600)
}
