package gosource

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

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
