package refactor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/gcexportdata"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/worktree"
)

func opener(src []byte) func(string) (io.ReadCloser, error) {
	return func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(src)), nil }
}

// libraries are the packages that a project imports from elsewhere, as the compiler exports them.
type libraries struct {
	exports map[string]string
	// broken holds the module and version of packages that do not compile, or import others that do not.
	broken map[string]string
	loaded map[string]*types.Package
	fset   *token.FileSet
}

// listLibraries runs the go command to find the packages of other modules that modules import. It downloads and
// compiles those that are not in the caches. flags are for the go command, such as for another go.mod.
func listLibraries(ctx context.Context, tree *worktree.Tree, g gotool.Go, flags []string, modules ...*module) (*libraries, error) {
	wanted := map[string]bool{}
	for _, m := range modules {
		for _, f := range m.files {
			for _, spec := range f.tree.Imports {
				p := pathOf(spec)
				if _, own := m.dirOf(p); f.built && !own && p != "unsafe" && p != "C" {
					wanted[p] = true
				}
			}
		}
	}
	l := &libraries{exports: map[string]string{}, broken: map[string]string{}, loaded: map[string]*types.Package{}, fset: token.NewFileSet()}
	if len(wanted) == 0 {
		return l, nil
	}
	// DepsErrors shows that modules of packages are missing that these import.
	args := slices.Concat([]string{"list", "-e", "-export", "-json=ImportPath,Export,Error,DepsErrors,Module"}, flags, []string{"--"}, sorted(wanted))
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

// load reads a package that another module or the standard library defines.
func (l *libraries) load(path string) (*types.Package, error) {
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

// unit is the files of one package.
type unit struct{ plain, inner, outer []*ast.File }

// checker type-checks the packages of a module, tests included.
type checker struct {
	module   *module
	libs     *libraries
	units    map[string]*unit
	done     map[string]*types.Package
	busy     map[string]bool
	reaches  map[[2]string]bool
	findings map[codegen.Finding]bool
	// info gets what identifiers stand for, where it is not nil.
	info *types.Info
}

// check returns all that keeps the module's packages and tests from compiling, nil where nothing does.
func check(m *module, libs *libraries) codegen.Findings { return checkInto(m, libs, nil) }

// checkInto does so and notes what identifiers stand for.
func checkInto(m *module, libs *libraries, info *types.Info) codegen.Findings {
	c := &checker{
		module: m, libs: libs, info: info, units: map[string]*unit{}, done: map[string]*types.Package{},
		busy: map[string]bool{}, reaches: map[[2]string]bool{}, findings: map[codegen.Finding]bool{},
	}
	for _, name := range sorted(m.files) {
		f := m.files[name]
		if !f.built {
			continue
		}
		u := c.units[m.imp(f.dir())]
		if u == nil {
			u = &unit{}
			c.units[m.imp(f.dir())] = u
		}
		switch {
		case f.outer():
			u.outer = append(u.outer, f.tree)
		case f.test():
			u.inner = append(u.inner, f.tree)
		default:
			u.plain = append(u.plain, f.tree)
		}
	}
	for _, p := range sorted(c.units) {
		u := c.units[p]
		if len(u.plain) > 0 {
			_, _ = c.Import(p) // its errors are in findings
		}
		tested := c.done[p]
		if len(u.inner) > 0 {
			tested = c.run(p, slices.Concat(u.plain, u.inner), c)
		}
		if len(u.outer) > 0 {
			c.run(p+"_test", u.outer, &variant{c: c, path: p, tested: tested, done: map[string]*types.Package{}})
		}
	}
	var findings codegen.Findings
	for f := range c.findings {
		findings = append(findings, f)
	}
	slices.SortFunc(findings, func(a, b codegen.Finding) int {
		if n := strings.Compare(a.File, b.File); n != 0 {
			return n
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return strings.Compare(a.Message, b.Message)
	})
	return findings
}

// Import implements types.Importer: packages of the module from their source, others as exported.
func (c *checker) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	u, own := c.units[path]
	if !own {
		if _, inside := c.module.dirOf(path); inside {
			return nil, errors.New("the project has no such package")
		}
		return c.libs.load(path)
	}
	if p := c.done[path]; p != nil {
		return p, nil
	}
	if c.busy[path] {
		return nil, errors.New("import cycle")
	}
	c.busy[path] = true
	defer delete(c.busy, path)
	p := c.run(path, u.plain, c)
	c.done[path] = p
	return p, nil
}

func (c *checker) run(path string, files []*ast.File, from types.Importer) *types.Package {
	config := types.Config{
		Importer: from, FakeImportC: true, GoVersion: c.module.goVersion,
		Error: func(err error) {
			e, ok := errors.AsType[types.Error](err)
			if !ok {
				return
			}
			at := e.Fset.Position(e.Pos)
			message := strings.ReplaceAll(e.Msg, "\n", " ")
			c.findings[codegen.Finding{File: at.Filename, Line: at.Line, Column: at.Column, Message: message}] = true
		},
	}
	p, _ := config.Check(path, c.module.fset, files, c.info) // errors went to Error
	return p
}

// variant is what an external test sees: the package that it tests with its inner test files, and what
// imports that package compiled against it.
type variant struct {
	c      *checker
	path   string
	tested *types.Package
	done   map[string]*types.Package
}

// Import implements types.Importer.
func (v *variant) Import(path string) (*types.Package, error) {
	if path == v.path && v.tested != nil {
		return v.tested, nil
	}
	if !v.c.leads(path, v.path) {
		return v.c.Import(path)
	}
	if p := v.done[path]; p != nil {
		return p, nil
	}
	v.done[path] = v.c.run(path, v.c.units[path].plain, v)
	return v.done[path], nil
}

// leads tells whether a package of the module imports another one, directly or not.
func (c *checker) leads(from, to string) bool {
	u := c.units[from]
	if u == nil || from == to {
		return false
	}
	key := [2]string{from, to}
	if known, ok := c.reaches[key]; ok {
		return known
	}
	c.reaches[key] = false
	for _, f := range u.plain {
		for _, spec := range f.Imports {
			if p := pathOf(spec); p == to || c.leads(p, to) {
				c.reaches[key] = true
			}
		}
	}
	return c.reaches[key]
}
