package gosource

import (
	"go/ast"
)

// TopLevel returns the identifiers of the package-level declarations of a file in order, without methods and imports.
func TopLevel(file *ast.File) []*ast.Ident {
	var ids []*ast.Ident
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				ids = append(ids, d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					ids = append(ids, s.Name)
				case *ast.ValueSpec:
					ids = append(ids, s.Names...)
				}
			}
		}
	}
	return ids
}

// Doc returns the comment of a declaration, or nil.
func Doc(decl ast.Decl) *ast.CommentGroup {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		return decl.Doc
	case *ast.GenDecl:
		return decl.Doc
	}
	return nil
}

// Receiver returns the name of the type that a function is a method of, or "".
func Receiver(decl *ast.FuncDecl) string {
	if decl.Recv == nil || len(decl.Recv.List) != 1 {
		return ""
	}
	expr := decl.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.ParenExpr:
			expr = e.X
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr: // with type parameters
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

// Key identifies a declaration in a file: "func F", "func T.M", "type T", "var v". A test container of Ginkgo, which is
// assigned to the blank identifier, is identified by its function and first argument.
func Key(decl ast.Decl) string {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv != nil {
			return "func " + Receiver(decl) + "." + decl.Name.Name
		}
		return "func " + decl.Name.Name
	case *ast.GenDecl:
		if len(decl.Specs) == 0 {
			return decl.Tok.String()
		}
		switch spec := decl.Specs[0].(type) {
		case *ast.TypeSpec:
			return "type " + spec.Name.Name
		case *ast.ValueSpec:
			if spec.Names[0].Name == "_" && len(spec.Values) == 1 {
				if call, ok := spec.Values[0].(*ast.CallExpr); ok && len(call.Args) > 0 {
					return "call " + Print(call.Fun) + " " + Print(call.Args[0])
				}
				return "blank " + Print(spec.Values[0])
			}
			return "var " + spec.Names[0].Name
		}
	}
	return ""
}

// CalledName returns the name of the function or method that an expression calls, or "".
func CalledName(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}

// IsIdent reports whether an expression is the identifier with a name.
func IsIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
