// Package typecheck checks the types of a project's Go code as the compiler does, without compiling anything.
//
// # Model
//
// The packages of the project, with their tests, are type-checked from source, since a command needs the errors in them. Of the
// packages that they import, only the declarations matter. The go command lists these packages, which costs little, because it
// neither builds them nor computes build IDs. Each is reduced to what an importer can refer to: no function bodies, no comments,
// no unexported declarations that nothing exported needs (declarations.go). Packages that only function bodies import
// drop out: of the 1,200 packages below a manager, 400 remain. They are type-checked in parallel in the order of their imports,
// and their syntax is dropped at once, so that memory stays low.
//
// The reduced sources are cached by the names of files in the module cache and by the content of all others. They need a
// fraction of the space of export data, and, unlike export data, don't depend on the versions of other modules: two projects
// share them even if they require different versions of the rest.
//
// That code has no errors is cached, too (passed.go). The declarations are loaded only when something else needs their types.
//
// # Errors
//
// Errors are counted in the project's packages. A library with errors in its declarations can't be imported. Errors in
// function bodies of libraries are found only with Checker.Bodies.
package typecheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/filecache"
	"github.com/operon-sdk/operon/pkg/goenv"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/tempdir"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// format is the version of the entries of the cache. Increment it to invalidate them, for example if more errors are found.
const format = "1"

// A Checker checks the types of projects.
type Checker struct {
	// Go lists the packages that a project imports, and downloads missing modules.
	Go gotool.Go
	// Environ is the environment of the go command, as of os.Environ. GOFLAGS and go env -w determine build tags.
	Environ []string
	// Tags are build tags in addition to Environ's.
	Tags []string
	// Bodies means that function bodies of libraries count, too, if they use the libraries of Kubernetes and are not part of these.
	// A change of requirements may break them.
	Bodies bool
	// CacheDir is the directory of the cache, or empty for none.
	CacheDir string
	// Version is the version of the program. Code that one version finds to be without errors is checked again by another one.
	Version string
	// Report runs a step, and reports what describe returns if it takes long. Nil only runs the step.
	Report func(describe func() string, step func() error) error
}

// Check type-checks the code of a tree with the requirements of its own go.mod, which need not be on disk yet.
func (c Checker) Check(ctx context.Context, tree *worktree.Tree) (diag.Findings, error) {
	m, err := gosource.ReadModule(tree)
	if err != nil {
		return nil, err
	}
	libraries, err := c.Load(ctx, tree, m)
	if err != nil {
		return nil, err
	}
	return libraries.Check(ctx, m, nil)
}

// Load finds the packages that modules import: versions of the code in a tree, whose go.mod has the requirements. Packages that
// don't exist are reported by Libraries.Check, which loads the declarations when it needs them.
func (c Checker) Load(ctx context.Context, tree *worktree.Tree, modules ...*gosource.Module) (*Libraries, error) {
	env := goenv.New(c.Environ, false)
	env.Tags = append(env.Tags, c.Tags...)
	l := &Libraries{
		checker: c, tree: tree, env: env, store: &filecache.Store{Dir: c.CacheDir},
		failures: map[*library]*library{}, cgo: map[*gosource.Module]map[string]*cgoPackage{},
		system: system{build: env.BuildContext(), immutable: env.Immutable(), toolchain: env.Toolchain()},
	}
	l.system.sizes = types.SizesFor("gc", l.system.build.GOARCH)
	if l.system.build.CgoEnabled {
		for _, m := range modules {
			var err error
			if l.cgo[m], err = c.generateCgo(ctx, tree, env, l.system, m); err != nil {
				return nil, err
			}
		}
	}
	l.paths = l.imports(modules)
	if slices.ContainsFunc(modules, func(m *gosource.Module) bool { return len(l.cgo[m]) > 0 }) {
		l.paths = slices.Compact(slices.Sorted(slices.Values(append(l.paths, "runtime/cgo", "syscall")))) // as generated files
	}
	if env.ReplacesFiles() {
		l.store.Dir = "" // the keys would contain the wrong files
	}
	defer l.store.Trim()
	return l, l.find(ctx)
}

// imports returns the sorted paths of packages that modules import from other modules.
func (l *Libraries) imports(modules []*gosource.Module) []string {
	wanted := map[string]bool{}
	for _, m := range modules {
		for _, f := range m.Files {
			if !l.system.selects(f) {
				continue
			}
			for _, spec := range f.AST.Imports {
				p := gosource.ImportPath(spec)
				if !l.inModule(m, p) && p != "unsafe" && p != "C" {
					wanted[p] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(wanted))
}

// inModule reports whether an import path is one of a module, and not of another module in a directory below it.
func (l *Libraries) inModule(m *gosource.Module, importPath string) bool {
	dir, ok := m.DirOf(importPath)
	for ; ok && dir != "."; dir = path.Dir(dir) {
		if l.tree.Exists(path.Join(dir, "go.mod")) {
			return false
		}
	}
	return ok
}

// changesRequirements reports whether the go.mod or go.sum of a tree are not those on disk.
func changesRequirements(tree *worktree.Tree) bool {
	edits := tree.Edits()
	_, mod := edits["go.mod"]
	_, sum := edits["go.sum"]
	return mod || sum
}

// sourceFlags returns flags with which the go command reads the go.mod and go.sum of a tree if they differ from those on disk,
// Go files with other contents, where nil removes one, and build tags. The returned function removes temporary files.
func sourceFlags(tree *worktree.Tree, env *goenv.Environment, code map[string][]byte) (flags []string, remove func(), err error) {
	if len(env.Tags) > 0 {
		flags = []string{env.TagsFlag()}
	}
	changed := changesRequirements(tree)
	if !changed && len(code) == 0 {
		return flags, func() {}, nil
	}
	dir, err := tempdir.New("", "go-mod")
	if err != nil {
		return nil, nil, fmt.Errorf("writing files for the go command: %w", err)
	}
	remove = func() { _ = dir.Remove() } // later commands remove what remains
	overlay := map[string]string{}
	write := func(name, temp string, text []byte) error {
		temp = filepath.Join(dir.Path, temp)
		overlay[filepath.Join(tree.Root(), filepath.FromSlash(name))] = temp
		return os.WriteFile(temp, text, 0o600)
	}
	if changed {
		for _, name := range []string{"go.mod", "go.sum"} {
			text, readErr := tree.ReadFile(name)
			if readErr == nil {
				readErr = write(name, name, text)
			}
			if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) {
				err = readErr
			}
		}
		// In a workspace, the go command accepts neither flag.
		if env.Workspace(tree.Root()) == "" {
			flags = append(flags, "-mod=mod", "-modfile="+filepath.Join(dir.Path, "go.mod"))
			clear(overlay)
		}
	}
	for i, name := range slices.Sorted(maps.Keys(code)) {
		if text := code[name]; text != nil {
			err = errors.Join(err, write(name, fmt.Sprintf("%d.go", i), text))
		} else {
			overlay[filepath.Join(tree.Root(), filepath.FromSlash(name))] = ""
		}
	}
	if len(overlay) > 0 {
		file := filepath.Join(dir.Path, "overlay.json")
		text, marshalErr := json.Marshal(map[string]any{"Replace": overlay})
		err = errors.Join(err, marshalErr, os.WriteFile(file, text, 0o600))
		flags = append(flags, "-overlay="+file)
	}
	if err != nil {
		remove()
		return nil, nil, fmt.Errorf("writing files for the go command: %w", diag.Cause(err))
	}
	return flags, remove, nil
}
