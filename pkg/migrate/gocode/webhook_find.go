package gocode

import (
	"fmt"
	"go/ast"
	"slices"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/project"
)

// setup is the function beside the types that sets webhooks of a kind up.
type setup struct {
	file *source
	decl *ast.FuncDecl
	// name is where the function's name is in the file as it was.
	name int
	// chain are the calls from the builder's start on, at the place of the object in it.
	chain []*ast.CallExpr
	at    int
	// split is what the function returns where only that moves; stays tells that nothing of it does.
	split ast.Expr
	stays bool
}

// is tells whether something that an identifier refers to is the function.
func (s *setup) is(n named) bool {
	return n.file == s.file.Name && n.offset == s.name
}

// assertion says that a type has webhooks of an interface that is no more.
type assertion struct {
	file *source
	decl *ast.GenDecl
	spec *ast.ValueSpec
}

// find finds the webhooks of a kind that are set up beside its type; nil where there are none.
func (w *Webhooks) find(pkg *apiPackage, r project.Resource) *webhook {
	h := &webhook{pkg: pkg, resource: r, given: map[string]bool{}}
	var setups []*setup
	for _, f := range pkg.files {
		for _, decl := range f.AST.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				setups = append(setups, setupsOf(f, decl, r.Kind)...)
			case *ast.GenDecl:
				h.asserts = append(h.asserts, assertions(f, decl, r.Kind)...)
			}
		}
	}
	if len(setups) == 0 {
		for _, a := range h.asserts {
			w.notes = append(w.notes, Note{File: a.file.Name, Line: a.file.Line(a.spec.Pos()), Message: fmt.Sprintf(
				"nothing here sets up the webhooks of %s; move them to %s by hand", r.Kind, pkg.target)})
		}
		return nil
	}
	h.setup = setups[0]
	if len(setups) > 1 {
		w.left(h, "they are set up in several places")
		return nil
	}
	for _, call := range h.setup.chain {
		h.given[method(call)] = true
	}
	validators := map[string]*hookMethod{}
	pkg.methods(r.Kind, func(_ *source, decl *ast.FuncDecl) {
		m := readMethod(decl)
		switch {
		case m == nil:
		case m.name == "Default":
			h.defaulter = m
		default:
			validators[m.name] = m
		}
	})
	if len(validators) == 3 {
		h.validators = []*hookMethod{validators["ValidateCreate"], validators["ValidateUpdate"], validators["ValidateDelete"]}
	}
	// A webhook that the builder is given comes before the type's own.
	if h.given["WithDefaulter"] {
		h.defaulter = nil
	}
	if h.given["WithValidator"] {
		h.validators = nil
	}
	return h
}

// setupsOf are the places in a function that set up webhooks of a kind with a builder of before.
func setupsOf(f *source, decl *ast.FuncDecl, kind string) []*setup {
	if decl.Body == nil {
		return nil
	}
	var setups []*setup
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		chain := chainOf(call)
		if !f.isWebhookBuilder(chain[0]) || len(chain[0].Args) != 1 {
			return true
		}
		at := slices.IndexFunc(chain, func(c *ast.CallExpr) bool { return method(c) == "For" && len(c.Args) == 1 })
		if at < 0 {
			return false
		}
		object := chain[at].Args[0]
		own := gosource.Receiver(decl) == kind && len(decl.Recv.List[0].Names) == 1 && gosource.IsIdent(object, decl.Recv.List[0].Names[0].Name)
		if own || gosource.IsIdent(objectOf(object), kind) {
			setups = append(setups, &setup{file: f, decl: decl, name: f.Offset(decl.Name.Pos()), chain: chain, at: at})
		}
		return false
	})
	return setups
}

// assertions are the variables that hold a type against the interfaces of before.
func assertions(f *source, decl *ast.GenDecl, kind string) []assertion {
	var found []assertion
	for _, spec := range decl.Specs {
		value, ok := spec.(*ast.ValueSpec)
		if !ok || len(value.Names) != 1 || value.Names[0].Name != "_" || value.Type == nil || len(value.Values) != 1 {
			continue
		}
		old := f.is(value.Type, webhookPackage, "Defaulter", "Validator") || f.is(value.Type, admissionPackage, "Defaulter", "Validator")
		if old && gosource.IsIdent(objectOf(value.Values[0]), kind) {
			found = append(found, assertion{f, decl, value})
		}
	}
	return found
}

// readMethod reads a method that one of the interfaces of before asks for; nil for any other.
func readMethod(decl *ast.FuncDecl) *hookMethod {
	results := 0
	if decl.Type.Results != nil {
		results = decl.Type.Results.NumFields()
	}
	m := &hookMethod{name: decl.Name.Name, decl: decl, warns: results == 2}
	params := decl.Type.Params.NumFields()
	switch m.name {
	case "Default":
		if params == 0 && results == 0 {
			return m
		}
	case "ValidateCreate", "ValidateDelete":
		if params == 0 && (results == 1 || results == 2) {
			return m
		}
	case "ValidateUpdate":
		if params == 1 && (results == 1 || results == 2) {
			return m
		}
	}
	return nil
}
