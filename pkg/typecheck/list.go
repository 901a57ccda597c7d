package typecheck

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/filecache"
	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A library is a package of another module or the standard library.
type library struct {
	path, name, dir string
	// files are the names of the Go files that are built, without those that cgo generates.
	files []string
	// imports maps import paths in the files to packages.
	imports map[string]*library
	// module is path@version of the module that provides the package, if it has a version. main means that the project's module
	// provides it, or another one of the workspace.
	module string
	main   bool
	// bodies means that the function bodies count.
	bodies bool
	// problem is the reason why the go command cannot build the package, if there is one.
	problem string
	// stored means that the library comes from a graph, and omitted that the graph has only its name. wanted is the digest that
	// the graph has.
	stored, omitted bool
	wanted          filecache.Digest

	loading
}

// list lists the packages at import paths and their dependencies with the go command, which downloads missing modules. It
// compiles nothing. flags are flags of go list.
func (c Checker) list(ctx context.Context, tree *worktree.Tree, flags, paths []string) (map[string]*library, error) {
	args := slices.Concat([]string{"list", "-e", "-deps", "-json=ImportPath,Name,Dir,GoFiles,CgoFiles,Imports,ImportMap,Module,Error"}, flags, []string{"--"}, paths)
	mod, err := tree.ReadFile("go.mod")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading go.mod: %w", err)
	}
	out, err := c.Go.Run(ctx, gotool.Command{Dir: tree.Root(), Mod: mod, Args: args})
	if failed, ok := errors.AsType[*gotool.Error](err); ok {
		failed.Text = strings.ReplaceAll(failed.Text, tree.Root(), ".")
	}
	if err != nil {
		return nil, err
	}
	return decodeList(out)
}

// decodeList decodes the output of go list.
func decodeList(out []byte) (map[string]*library, error) {
	all := map[string]*library{}
	imports := map[*library]map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Name, Dir      string
			GoFiles, CgoFiles, Imports []string
			ImportMap                  map[string]string
			Module                     *struct {
				Path, Version string
				Main          bool
				Replace       *struct{ Path, Version string }
			}
			Error *struct{ Err string }
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("reading the output of go list: %w", err)
		}
		l := &library{path: p.ImportPath, name: p.Name, dir: p.Dir, imports: map[string]*library{}}
		for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
			l.files = append(l.files, filepath.Join(p.Dir, name))
		}
		if m := p.Module; m != nil {
			l.main = m.Main
			if m.Version != "" {
				l.module = m.Path + "@" + m.Version
			}
		}
		if p.Error != nil {
			l.problem = p.Error.Err
		}
		targets := map[string]string{}
		for _, target := range p.Imports {
			targets[target] = target
		}
		for source, target := range p.ImportMap {
			targets[source] = target
		}
		all[l.path], imports[l] = l, targets
	}
	for l, targets := range imports {
		for source, target := range targets {
			if imported := all[target]; imported != nil {
				l.imports[source] = imported
			}
		}
	}
	return all, nil
}

// usesKubernetes reports whether the library uses the libraries of Kubernetes and is not part of these.
func (l *library) usesKubernetes() bool {
	return l.module != "" && !isKubernetes(l.path) &&
		slices.ContainsFunc(slices.Collect(maps.Keys(l.imports)), isKubernetes)
}

// isKubernetes reports whether a package belongs to modules of Kubernetes whose versions go together.
func isKubernetes(importPath string) bool {
	return strings.HasPrefix(importPath, "k8s.io/") || strings.HasPrefix(importPath, "sigs.k8s.io/controller-runtime/")
}

// nameOf returns the name of the package that an import path in the library's files stands for.
func (l *library) nameOf(importPath string) string {
	if imported := l.imports[importPath]; imported != nil && imported.name != "" {
		return imported.name
	}
	return path.Base(importPath) // the package has errors, or is C or unsafe
}
