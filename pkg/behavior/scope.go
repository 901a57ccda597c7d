package behavior

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
)

// A scope is a function and what is known of its variables. A type without kind is one of several.
type scope struct {
	file     *gosource.File
	function *ast.FuncDecl
	declared map[string]goType
}

// scopesOf returns the functions and methods of a file that have a body.
func scopesOf(f *gosource.File) (scopes []*scope) {
	for _, decl := range f.AST.Decls {
		if function, ok := decl.(*ast.FuncDecl); ok && function.Body != nil {
			s := &scope{file: f, function: function, declared: map[string]goType{}}
			s.declare()
			scopes = append(scopes, s)
		}
	}
	return scopes
}

// eachRequest calls use for each request of the function, with the call that makes it and the expression of its object.
func (s *scope) eachRequest(methods requestMethods, use func(call *ast.CallExpr, method requestMethod, object ast.Expr)) {
	ast.Inspect(s.function.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			for _, method := range methods.of(call) {
				if method.object < len(call.Args) {
					use(call, method, call.Args[method.object])
				}
			}
		}
		return true
	})
}

// calls returns the requests of the function whose object has a known type.
func (s *scope) calls(methods requestMethods) (calls []clientCall) {
	s.eachRequest(methods, func(call *ast.CallExpr, method requestMethod, object ast.Expr) {
		if t := s.typeOf(object); t.kind != "" {
			at := s.file.Fset.PositionFor(calledAt(call), false)
			calls = append(calls, clientCall{diag.Position{File: s.file.Name, Line: at.Line, Column: at.Column}, method.verbs, method.ofStatus, t})
		}
	})
	return calls
}

// calledAt returns the position of the name of the function that is called.
func calledAt(call *ast.CallExpr) token.Pos {
	if selector, ok := call.Fun.(*ast.SelectorExpr); ok {
		return selector.Sel.Pos()
	}
	return call.Fun.Pos()
}

// declare records the types of parameters and variables.
func (s *scope) declare() {
	ast.Inspect(s.function, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				s.set(name.Name, s.named(n.Type))
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				t := s.named(n.Type)
				if t.kind == "" && i < len(n.Values) {
					t = s.typeOf(n.Values[i])
				}
				s.set(name.Name, t)
			}
		case *ast.CallExpr:
			s.setKind(n)
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if id, ok := left.(*ast.Ident); ok && n.Tok == token.DEFINE {
					t := goType{}
					if len(n.Rhs) == len(n.Lhs) {
						t = s.typeOf(n.Rhs[i])
					}
					s.set(id.Name, t)
				}
			}
		}
		return true
	})
}

// setKind records the type of an object with only metadata, or without a structure: x.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod")).
func (s *scope) setKind(call *ast.CallExpr) {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "SetGroupVersionKind" || len(call.Args) != 1 {
		return
	}
	object, isName := selector.X.(*ast.Ident)
	with, isCall := call.Args[0].(*ast.CallExpr)
	if !isName || !isCall || len(with.Args) != 1 {
		return
	}
	of, ok := with.Fun.(*ast.SelectorExpr)
	if !ok || of.Sel.Name != "WithKind" {
		return
	}
	t := s.named(of.X)
	t.kind = stringValue(with.Args[0])
	if known := s.declared[object.Name].kind; strings.HasPrefix(known, "PartialObjectMetadata") || strings.HasPrefix(known, "Unstructured") {
		delete(s.declared, object.Name)
	}
	s.set(object.Name, t)
}

// set records the type of a variable. A second variable of the name must have the same one.
func (s *scope) set(name string, t goType) {
	if known, ok := s.declared[name]; ok && known != t {
		t = goType{}
	}
	s.declared[name] = t
}

// typeOf returns the type of an object, or nothing if it isn't written or declared in the function.
func (s *scope) typeOf(e ast.Expr) goType {
	switch e := e.(type) {
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return s.typeOf(e.X)
		}
	case *ast.CompositeLit:
		return s.named(e.Type)
	case *ast.Ident:
		return s.declared[e.Name]
	case *ast.CallExpr:
		return s.constructed(e)
	}
	return goType{}
}

// constructed returns the type of what new or the functions of an apply configuration return, with the methods that are called on it.
func (s *scope) constructed(call *ast.CallExpr) goType {
	if gosource.IsIdent(call.Fun, "new") && len(call.Args) == 1 {
		return s.named(call.Args[0])
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return goType{}
	}
	if on, ok := selector.X.(*ast.CallExpr); ok && strings.HasPrefix(selector.Sel.Name, "With") {
		return s.constructed(on)
	}
	t := s.named(selector)
	if rest, found := strings.CutPrefix(t.path, "k8s.io/client-go/applyconfigurations/"); found {
		return goType{kubernetesTypes + rest, t.kind}
	}
	if types, _, found := strings.Cut(t.path, "/applyconfiguration/"); found { // of the project
		return goType{types, t.kind}
	}
	return goType{}
}

// named returns the type of another package that an expression names, also as a pointer.
func (s *scope) named(e ast.Expr) goType {
	if star, ok := e.(*ast.StarExpr); ok {
		return s.named(star.X)
	}
	selector, ok := e.(*ast.SelectorExpr)
	if !ok {
		return goType{}
	}
	for _, spec := range s.file.AST.Imports {
		if gosource.IsIdent(selector.X, s.file.ImportName(spec)) {
			return goType{gosource.ImportPath(spec), selector.Sel.Name}
		}
	}
	return goType{}
}

// stringValue returns the value of a string literal, or "".
func stringValue(e ast.Expr) string {
	literal, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	value, err := strconv.Unquote(literal.Value)
	if err != nil {
		return ""
	}
	return value
}
