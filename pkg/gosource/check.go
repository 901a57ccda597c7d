package gosource

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// Check type-checks the packages of the module and their tests, and returns the errors sorted by position. importer
// imports the packages of other modules. If info is not nil, its maps are filled.
func (m *Module) Check(importer types.Importer, info *types.Info) diag.Findings {
	c := &checker{
		module: m, importer: importer, info: info, packages: map[string]*packageFiles{}, checked: map[string]*types.Package{},
		checking: map[string]bool{}, importing: map[[2]string]bool{},
	}
	for _, name := range m.Names() {
		f := m.Files[name]
		if !f.IsBuilt() {
			continue
		}
		p := c.packages[m.ImportPath(f.Dir())]
		if p == nil {
			p = &packageFiles{}
			c.packages[m.ImportPath(f.Dir())] = p
		}
		switch {
		case f.IsExternalTest():
			p.externalTests = append(p.externalTests, f.AST)
		case f.IsTest():
			p.tests = append(p.tests, f.AST)
		default:
			p.files = append(p.files, f.AST)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(c.packages)) {
		p := c.packages[path]
		if len(p.files) > 0 {
			_, _ = c.Import(path) // records its errors
		}
		tested := c.checked[path]
		if len(p.tests) > 0 {
			tested = c.check(path, slices.Concat(p.files, p.tests), c)
		}
		if len(p.externalTests) > 0 {
			c.check(path+"_test", p.externalTests, &testImporter{c: c, path: path, tested: tested, checked: map[string]*types.Package{}})
		}
	}
	return c.found.Sort()
}

// packageFiles are the files of one package.
type packageFiles struct{ files, tests, externalTests []*ast.File }

// A checker type-checks the packages of a module. It implements types.Importer.
type checker struct {
	module   *Module
	importer types.Importer
	info     *types.Info
	packages map[string]*packageFiles
	checked  map[string]*types.Package
	checking map[string]bool
	// importing caches for pairs of packages whether the first imports the second.
	importing map[[2]string]bool
	found     diag.Findings
}

// Import returns a package of the module, checked from source, or one that the importer provides.
func (c *checker) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	files, ok := c.packages[path]
	if !ok {
		if _, ok := c.module.DirOf(path); ok {
			return nil, errors.New("the project has no such package")
		}
		return c.importer.Import(path)
	}
	if p := c.checked[path]; p != nil {
		return p, nil
	}
	if c.checking[path] {
		return nil, errors.New("import cycle")
	}
	c.checking[path] = true
	defer delete(c.checking, path)
	p := c.check(path, files.files, c)
	c.checked[path] = p
	return p, nil
}

func (c *checker) check(path string, files []*ast.File, importer types.Importer) *types.Package {
	config := types.Config{
		Importer: importer, FakeImportC: true, GoVersion: c.module.GoVersion,
		Error: func(err error) {
			if e, ok := errors.AsType[types.Error](err); ok {
				at := e.Fset.Position(e.Pos)
				c.found = append(c.found, diag.Finding{
					Position: diag.Position{File: at.Filename, Line: at.Line, Column: at.Column}, Problem: strings.ReplaceAll(e.Msg, "\n", " "),
				})
			}
		},
	}
	p, _ := config.Check(path, c.module.Fset, files, c.info) // Error has recorded the errors
	return p
}

// A testImporter imports packages for an external test: the tested package with its internal test files, and packages
// that import it compiled against that.
type testImporter struct {
	c       *checker
	path    string
	tested  *types.Package
	checked map[string]*types.Package
}

// Import implements types.Importer.
func (t *testImporter) Import(path string) (*types.Package, error) {
	if path == t.path && t.tested != nil {
		return t.tested, nil
	}
	if !t.c.imports(path, t.path) {
		return t.c.Import(path)
	}
	if p := t.checked[path]; p != nil {
		return p, nil
	}
	t.checked[path] = t.c.check(path, t.c.packages[path].files, t)
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
			if path := ImportPath(spec); path == to || c.imports(path, to) {
				c.importing[key] = true
			}
		}
	}
	return c.importing[key]
}

// CheckWithoutImports type-checks files of one package without reading the packages that they import. It returns the
// errors that do not follow from that. If info is not nil, its maps are filled.
func CheckWithoutImports(path string, files []*File, info *types.Info) (*types.Package, []types.Error) {
	var found []types.Error
	config := types.Config{Importer: noImporter{}, FakeImportC: true, Error: func(err error) {
		if e, ok := errors.AsType[types.Error](err); ok && !strings.Contains(e.Msg, errNotImported.Error()) {
			found = append(found, e)
		}
	}}
	fset := token.NewFileSet()
	var trees []*ast.File
	for _, f := range files {
		fset, trees = f.Fset, append(trees, f.AST)
	}
	p, _ := config.Check(path, fset, trees, info) // Error has recorded the errors
	return p, found
}

// A noImporter finds no package.
type noImporter struct{}

var errNotImported = errors.New("not imported")

// Import implements types.Importer.
func (noImporter) Import(string) (*types.Package, error) { return nil, errNotImported }
