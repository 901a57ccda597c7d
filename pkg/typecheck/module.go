package typecheck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/types"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
)

// Check type-checks the packages of a module and their tests, and returns the errors sorted by position. If info is not nil,
// its maps are filled.
func (l *Libraries) Check(ctx context.Context, m *gosource.Module, info *types.Info) (diag.Findings, error) {
	c := &checker{
		module: m, libraries: l, info: info, packages: map[string]*packageFiles{}, checked: map[string]*types.Package{},
		checking: map[string]bool{}, importing: map[[2]string]bool{},
	}
	for _, name := range m.Names() {
		c.add(m.Files[name])
	}
	if c.passedBefore() {
		return nil, ctx.Err()
	}
	if err := l.load(ctx); err != nil {
		return nil, err
	}
	paths := slices.Sorted(maps.Keys(c.packages))
	for _, path := range paths {
		p := c.packages[path]
		dir, _ := m.DirOf(path)
		c.checkNames(p)
		c.replaceCgo(dir, p)
	}
	for _, path := range paths {
		c.checkPackage(path)
	}
	c.recordPassed()
	return c.found.Sort(), nil
}

// checkPackage type-checks a package and its tests.
func (c *checker) checkPackage(path string) {
	p := c.packages[path]
	if len(p.files) > 0 {
		_, _ = c.load(path) // records its errors
	}
	c.checkTests(path, p)
	tested := c.checked[path]
	if len(p.tests) > 0 {
		tested = c.check(path, slices.Concat(p.files, p.tests), c.load)
	}
	if len(p.externalTests) > 0 {
		t := &testImporter{c: c, path: path, tested: tested, checked: map[string]*types.Package{}}
		c.check(path+externalSuffix, p.externalTests, t.load)
	}
}

// externalSuffix is what the path and the name of an external test's package end in.
const externalSuffix = "_test"

// packageFiles are the files of one package.
type packageFiles struct {
	files, tests, externalTests []*ast.File
	// failed means that the go command refuses the package, so that errors in types are not found.
	failed bool
}

// A checker type-checks the packages of a module.
type checker struct {
	module    *gosource.Module
	libraries *Libraries
	info      *types.Info
	packages  map[string]*packageFiles
	checked   map[string]*types.Package
	checking  map[string]bool
	// importing caches for pairs of packages whether the first imports the second.
	importing map[[2]string]bool
	found     diag.Findings
	// readsTree means that files of the tree other than Go files decided about found.
	readsTree bool
}

// add adds a file to its package if the build constraints select it.
func (c *checker) add(f *gosource.File) {
	if !c.libraries.system.selects(f) {
		return
	}
	p := c.packages[c.module.ImportPath(f.Dir())]
	if p == nil {
		p = &packageFiles{}
		c.packages[c.module.ImportPath(f.Dir())] = p
	}
	switch {
	case f.IsExternalTest():
		p.externalTests = append(p.externalTests, f.AST)
	case f.IsTest():
		p.tests = append(p.tests, f.AST)
	default:
		p.files = append(p.files, f.AST)
	}
	c.found = append(c.found, embedFindings(c.libraries.tree, f)...)
}

// checkNames finds files of a directory that belong to another package than the first one.
func (c *checker) checkNames(p *packageFiles) {
	all := slices.Concat(p.files, p.tests)
	for _, f := range all {
		if name := all[0].Name.Name; f.Name.Name != name {
			at := c.module.Fset.Position(f.Name.Pos())
			c.found = append(c.found, diag.Finding{
				Position: diag.Position{File: at.Filename, Line: at.Line, Column: at.Column},
				Problem:  fmt.Sprintf("package %s; expected package %s", f.Name.Name, name),
			})
			p.failed = true
		}
	}
}

// selects reports whether a file is part of a build.
func (s system) selects(f *gosource.File) bool {
	context := s.build
	context.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.Text)), nil }
	ok, err := context.MatchFile(path.Dir(f.Name), path.Base(f.Name))
	return ok && err == nil && f.AST.Name.Name != "documentation" && (context.CgoEnabled || !usesCgo(f.AST))
}

// load returns a package of the module, checked from source, or a library.
func (c *checker) load(path string) (*types.Package, error) {
	files, ok := c.packages[path]
	if !ok {
		if c.libraries.inModule(c.module, path) {
			return nil, errors.New("the project has no such package")
		}
		return c.libraries.importLibrary(path)
	}
	if p := c.checked[path]; p != nil {
		return p, nil
	}
	if c.checking[path] {
		return nil, errors.New("import cycle")
	}
	c.checking[path] = true
	defer delete(c.checking, path)
	p := c.check(path, files.files, c.load)
	c.checked[path] = p
	return p, nil
}

func (c *checker) check(path string, files []*ast.File, load importer) *types.Package {
	failed := c.packages[strings.TrimSuffix(path, externalSuffix)].failed
	config := types.Config{
		FakeImportC: true, GoVersion: c.module.GoVersion, Sizes: c.libraries.system.sizes,
		Importer: importer(func(imported string) (*types.Package, error) {
			if imported == "unsafe" {
				return types.Unsafe, nil
			}
			importing := strings.TrimSuffix(path, externalSuffix)
			if !gosource.CanImport(importing, imported) {
				return nil, fmt.Errorf("use of internal package %s is not allowed", imported)
			}
			p, err := load(imported)
			if err == nil && p.Name() == "main" && imported != importing {
				return nil, fmt.Errorf("%s is a program, not an importable package", imported)
			}
			return p, err
		}),
		Error: func(err error) {
			e, ok := errors.AsType[types.Error](err)
			if !ok || failed {
				return
			}
			at, text := c.position(e), strings.ReplaceAll(e.Msg, "\n", " ")
			if related, ok := strings.CutPrefix(text, "\t"); ok && len(c.found) > 0 { // continues the last error
				c.found[len(c.found)-1].Problem += fmt.Sprintf("; %s: %s", at, related)
				return
			}
			c.found = append(c.found, diag.Finding{Position: at, Problem: text})
		},
	}
	p, err := config.Check(path, c.module.Fset, files, c.info)
	if err == nil && !failed { // Error has recorded the errors
		c.checkBodies(path, files)
	}
	return p
}

// position returns the position of an error, in the sources if it is in a file that cgo has generated.
func (c *checker) position(e types.Error) diag.Position {
	at := e.Fset.Position(e.Pos)
	if filepath.IsAbs(at.Filename) && c.libraries.tree != nil {
		if rel, err := filepath.Rel(c.libraries.tree.Root(), at.Filename); err == nil {
			at.Filename = filepath.ToSlash(rel)
		}
	}
	return diag.Position{File: at.Filename, Line: at.Line, Column: at.Column}
}

// A testImporter imports packages for an external test: the tested package with its internal test files, and packages
// that import it compiled against that.
type testImporter struct {
	c       *checker
	path    string
	tested  *types.Package
	checked map[string]*types.Package
}

func (t *testImporter) load(path string) (*types.Package, error) {
	if path == t.path && t.tested != nil {
		return t.tested, nil
	}
	if !t.c.imports(path, t.path) {
		return t.c.load(path)
	}
	if p := t.checked[path]; p != nil {
		return p, nil
	}
	t.checked[path] = t.c.check(path, t.c.packages[path].files, t.load)
	return t.checked[path], nil
}

// imports reports whether a package of the module imports another one, directly or not.
func (c *checker) imports(from, to string) bool {
	p := c.packages[from]
	if p == nil || from == to {
		return false
	}
	key := [2]string{from, to}
	if result, ok := c.importing[key]; ok {
		return result
	}
	c.importing[key] = false
	for _, f := range p.files {
		for _, spec := range f.Imports {
			if path := gosource.ImportPath(spec); path == to || c.imports(path, to) {
				c.importing[key] = true
			}
		}
	}
	return c.importing[key]
}

// system is what the types depend on besides the source.
type system struct {
	build build.Context
	sizes types.Sizes
	// immutable reports whether the names of files determine their content, together with toolchain.
	immutable func(names []string) bool
	toolchain []byte
}
