package reshape

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

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

// Tidy has the go command tidy go.mod and go.sum of a tree, none of which needs to be on disk yet. It is offline: where
// the module cache lacks what that takes, nothing happens and tidy is false.
func Tidy(ctx context.Context, tree *scaffold.Tree, run Go) (tidy bool, err error) {
	dir, err := os.MkdirTemp("", "operon-go-tidy-*")
	if err != nil {
		return false, fmt.Errorf("writing go.mod for the go command: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // a folder of the system's temporary files
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for i, name := range sorted(tree.Overlay()) {
		file := filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(file, tree.Overlay()[name], 0o600); err != nil {
			return false, fmt.Errorf("writing %s for the go command: %w", name, err)
		}
		overlay.Replace[filepath.Join(tree.Root(), filepath.FromSlash(name))] = file
	}
	for _, name := range tree.Removed() {
		overlay.Replace[filepath.Join(tree.Root(), filepath.FromSlash(name))] = ""
	}
	text, err := json.Marshal(overlay)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "overlay.json"), text, 0o600)
	}
	if err != nil {
		return false, fmt.Errorf("writing what changes for the go command: %w", err)
	}
	files := map[string][]byte{}
	for _, name := range []string{"go.mod", "go.sum"} {
		if files[name], err = tree.ReadFile(name); err == nil {
			err = os.WriteFile(filepath.Join(dir, name), files[name], 0o600)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("writing %s for the go command: %w", name, err)
		}
	}
	err = run(ctx, tree.Root(), []string{"GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off"}, nil, nil,
		"mod", "tidy", "-modfile="+filepath.Join(dir, "go.mod"), "-overlay="+filepath.Join(dir, "overlay.json"))
	if err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if errors.Is(err, codegen.ErrGoMissing) {
			return false, err
		}
		return false, nil // the compiler tells of code that is broken, and what is not in the cache cannot be had
	}
	for name, before := range files {
		after, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("reading the tidied %s: %w", name, err)
		}
		if !slices.Equal(before, after) {
			tree.WriteFile(name, after, 0o644)
		}
	}
	return true, nil
}
