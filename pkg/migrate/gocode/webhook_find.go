package gocode

import (
	"go/ast"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/project"
)

// A setup is the function in the package of types that sets up the webhooks of a kind.
type setup struct {
	file *source
	decl *ast.FuncDecl
	// name is the original offset of the function's name.
	name int
	// chain are the calls from the start of the builder; at is the index of the call with the object.
	chain []*ast.CallExpr
	at    int
	// split is the result expression of the function if only that is moved. stays reports that nothing is moved.
	split ast.Expr
	stays bool
}

// matches reports whether an object is the function.
func (s *setup) matches(n named) bool {
	return n.file == s.file.Name && n.offset == s.name
}

// An assertion is a variable that asserts an old webhook interface.
type assertion struct {
	file *source
	spec *ast.ValueSpec
}

// find returns the webhooks of a kind that are set up in the package of its type, or nil.
func (w *Webhooks) find(pkg *apiPackage, r project.Resource) *webhook {
	h := &webhook{pkg: pkg, resource: r, options: map[string]bool{}}
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
			w.notes.Addf(a.file.at(a.spec.Pos()),
				"webhooks of %s not moved: no function in this package sets them up; move them to %s", r.Kind, pkg.target)
		}
		return nil
	}
	h.setup = setups[0]
	if len(setups) > 1 {
		w.leaveOut(h, "they are set up in several places")
		return nil
	}
	for _, call := range h.setup.chain {
		h.options[method(call)] = true
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
	// Webhooks of the builder take precedence over methods of the type.
	if h.options["WithDefaulter"] {
		h.defaulter = nil
	}
	if h.options["WithValidator"] {
		h.validators = nil
	}
	return h
}

// setupsOf returns the places in a function that set up webhooks of a kind with an old builder.
func setupsOf(f *source, decl *ast.FuncDecl, kind string) []*setup {
	if decl.Body == nil {
		return nil
	}
	var setups []*setup
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		chain, at := f.webhookChain(n)
		if chain == nil {
			return true
		}
		object := chain[at].Args[0]
		own := gosource.Receiver(decl) == kind && len(decl.Recv.List[0].Names) == 1 &&
			gosource.IsIdent(object, decl.Recv.List[0].Names[0].Name)
		if own || gosource.IsIdent(objectOf(object), kind) {
			setups = append(setups, &setup{file: f, decl: decl, name: f.Offset(decl.Name.Pos()), chain: chain, at: at})
		}
		return false
	})
	return setups
}

// assertions returns the variables that assert an old webhook interface for a type.
func assertions(f *source, decl *ast.GenDecl, kind string) []assertion {
	var found []assertion
	for _, spec := range decl.Specs {
		value, ok := spec.(*ast.ValueSpec)
		if !ok || len(value.Names) != 1 || value.Names[0].Name != "_" || len(value.Values) != 1 {
			continue
		}
		old := f.refersTo(value.Type, webhookPackage, "Defaulter", "Validator") ||
			f.refersTo(value.Type, admissionPackage, "Defaulter", "Validator")
		if old && gosource.IsIdent(objectOf(value.Values[0]), kind) {
			found = append(found, assertion{f, value})
		}
	}
	return found
}

// readMethod returns a method of an old webhook interface, or nil.
func readMethod(decl *ast.FuncDecl) *hookMethod {
	params, results := decl.Type.Params.NumFields(), decl.Type.Results.NumFields()
	validates := results == 1 || results == 2
	switch name := decl.Name.Name; {
	case name == "Default" && params == 0 && results == 0,
		(name == "ValidateCreate" || name == "ValidateDelete") && params == 0 && validates,
		name == "ValidateUpdate" && params == 1 && validates:
		return &hookMethod{name: name, warns: results == 2}
	}
	return nil
}
