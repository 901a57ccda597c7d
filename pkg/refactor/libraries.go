package refactor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/gcexportdata"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// libraries imports packages of other modules from the export data of the compiler. It implements types.Importer.
type libraries struct {
	// exports holds the names of files with export data by import path.
	exports map[string]string
	// broken holds module@version of the packages that do not compile, or that import such packages.
	broken map[string]string
	loaded map[string]*types.Package
	fset   *token.FileSet
}

// listLibraries runs go list for the packages of other modules that modules import, which downloads and compiles those
// that are not cached. flags are flags of go list.
func listLibraries(ctx context.Context, tree *worktree.Tree, g gotool.Go, flags []string, modules ...*gosource.Module) (*libraries, error) {
	wanted := map[string]bool{}
	for _, m := range modules {
		for _, f := range m.Files {
			if !f.IsBuilt() {
				continue
			}
			for _, spec := range f.AST.Imports {
				p := gosource.ImportPath(spec)
				if _, inModule := m.DirOf(p); !inModule && p != "unsafe" && p != "C" {
					wanted[p] = true
				}
			}
		}
	}
	l := &libraries{exports: map[string]string{}, broken: map[string]string{}, loaded: map[string]*types.Package{}, fset: token.NewFileSet()}
	if len(wanted) == 0 {
		return l, nil
	}
	// DepsErrors reports missing modules of indirectly imported packages.
	args := slices.Concat([]string{"list", "-e", "-export", "-json=ImportPath,Export,Error,DepsErrors,Module"}, flags, []string{"--"}, slices.Sorted(maps.Keys(wanted)))
	mod, err := tree.ReadFile("go.mod")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading go.mod: %w", err)
	}
	out, err := g.Run(ctx, gotool.Command{Dir: tree.Root(), Mod: mod, Args: args})
	if failed, ok := errors.AsType[*gotool.Error](err); ok {
		failed.Text = strings.ReplaceAll(failed.Text, tree.Root(), ".")
	}
	if err != nil {
		return nil, err
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Export string
			Module             struct{ Path, Version string }
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("reading the output of go list: %w", err)
		}
		l.exports[p.ImportPath] = p.Export
		if p.Export == "" && p.Module.Version != "" {
			l.broken[p.ImportPath] = p.Module.Path + "@" + p.Module.Version
		}
	}
	return l, nil
}

// Import returns a package of another module or the standard library.
func (l *libraries) Import(path string) (*types.Package, error) {
	if p := l.loaded[path]; p != nil && p.Complete() {
		return p, nil
	}
	name := l.exports[path]
	if module, ok := l.broken[path]; ok {
		return nil, fmt.Errorf("%s does not compile with the versions in go.mod; require another version of it", module)
	}
	if name == "" {
		return nil, errors.New("no module of go.mod provides it; run go mod tidy")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	r, err := gcexportdata.NewReader(f)
	if err != nil {
		return nil, err
	}
	return gcexportdata.Read(r, l.fset, l.loaded, path)
}
