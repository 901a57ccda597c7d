package gocode

import (
	"bytes"
	"go/ast"
	"path"
	"slices"
	"strings"
)

// suites updates test suites that start an API server to find its programs as in the current scaffold, if make test
// does not set their directory: in the existing directory instead of one with a fixed version.
func suites(f *source) {
	if !f.IsTest() || f.packageDeclares("binaryAssets", "root") {
		return
	}
	current := f.program.suiteOf(f.Dir())
	if current == nil || strings.Count(string(f.Text), "envtest.Environment{") != 1 {
		return
	}
	var environment *ast.CompositeLit
	for literal := range nodes[*ast.CompositeLit](f.AST) {
		if f.refersTo(literal.Type, runtimeModule+"/pkg/envtest", "Environment") {
			environment = literal
		}
	}
	if environment == nil || len(environment.Elts) == 0 {
		return
	}
	var value ast.Expr
	for key, pair := range f.pairs(environment) {
		if key == "BinaryAssetsDirectory" {
			value = pair.Value
		}
	}
	switch {
	case value != nil && strings.Contains(f.Source(value), ".GOARCH") && strings.Contains(f.Source(value), `"k8s"`):
		f.replace(value, "binaryAssets()")
	case strings.Contains(string(f.Text), "BinaryAssetsDirectory") || strings.Contains(string(f.Text), "UseExistingCluster"):
		return
	default:
		last := environment.Elts[len(environment.Elts)-1]
		f.insert(last.End(), ",\nBinaryAssetsDirectory: binaryAssets()")
	}
	f.adopt(current, "root", "binaryAssets")
}

// suiteOf returns the current suite of a package.
func (p *program) suiteOf(dir string) *source {
	for _, name := range []string{"suite_test.go", "webhook_suite_test.go"} {
		if text := p.current[path.Join(dir, name)]; text != nil {
			return newSource(p, path.Join(dir, name), text)
		}
	}
	return nil
}

// packageDeclares reports whether the file's package declares any of the names, in this file or another one.
func (f *source) packageDeclares(names ...string) bool {
	return slices.ContainsFunc(f.program.files, func(other *source) bool {
		return other.Dir() == f.Dir() && other.AST.Name.Name == f.AST.Name.Name &&
			slices.ContainsFunc(names, func(name string) bool { return other.AST.Scope.Lookup(name) != nil })
	})
}

// declaration returns the declaration of a function or of a single variable.
func (f *source) declaration(name string) ast.Decl {
	for _, decl := range f.AST.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == name {
				return d
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if value, ok := spec.(*ast.ValueSpec); ok && len(value.Names) == 1 && value.Names[0].Name == name {
					return d
				}
			}
		}
	}
	return nil
}

// adopt copies declarations from another file to the end of this one, with their imports.
func (f *source) adopt(other *source, names ...string) {
	text := ""
	for _, name := range names {
		decl := other.declaration(name)
		if decl == nil {
			return
		}
		text += "\n" + other.declarationText(decl) + "\n"
		f.useImportsOf(other, decl)
	}
	if !bytes.HasSuffix(f.Text, []byte("\n")) {
		text = "\n" + text
	}
	f.insert(f.AST.FileEnd, text)
}

// useImportsOf adds the imports that a declaration in another file needs. It reports whether they have the same names in
// this file.
func (f *source) useImportsOf(other *source, decl ast.Decl) bool {
	same := true
	for id := range nodes[*ast.Ident](decl) {
		if other.IsUnresolved(id) && other.imports[id.Name] != "" {
			same = f.use(other.imports[id.Name], id.Name) == id.Name && same
		}
	}
	return same
}
