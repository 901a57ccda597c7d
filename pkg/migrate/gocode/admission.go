package gocode

import "go/ast"

// decoders replaces *admission.Decoder by admission.Decoder, which is an interface since v0.15.
func decoders(f *source) {
	ast.Inspect(f.AST, func(n ast.Node) bool {
		if star, ok := n.(*ast.StarExpr); ok && f.refersTo(star.X, admissionPackage, "Decoder") {
			f.cut(star.Pos(), star.X.Pos())
		}
		return true
	})
}

// withoutError removes the error result of functions that no longer return one: client.ObjectKeyFromObject since v0.7 and
// admission.NewDecoder since v0.15. It must be ignored or used only in the following check.
func withoutError(f *source) {
	ast.Inspect(f.AST, func(n ast.Node) bool {
		block, ok := n.(*ast.BlockStmt)
		if !ok {
			return true
		}
		for i, stmt := range block.List {
			assign, ok := stmt.(*ast.AssignStmt)
			if !ok || len(assign.Lhs) != 2 || len(assign.Rhs) != 1 {
				continue
			}
			call, ok := assign.Rhs[0].(*ast.CallExpr)
			if !ok || !f.refersTo(call.Fun, clientPackage, "ObjectKeyFromObject") && !f.refersTo(call.Fun, admissionPackage, "NewDecoder") {
				continue
			}
			err, ok := assign.Lhs[1].(*ast.Ident)
			if !ok {
				continue
			}
			if err.Name != "_" {
				if i+1 == len(block.List) || !f.isErrorCheck(block.List[i+1], err) || f.hasComments(block.List[i+1], nil) {
					continue
				}
				used := false
				for _, other := range block.List[i+2:] {
					used = used || isMentioned(other, err.Name)
				}
				if used {
					continue
				}
				f.cutStatement(block.List[i+1])
			}
			f.cut(assign.Lhs[0].End(), err.End())
		}
		return true
	})
}

// isErrorCheck reports whether a statement is if err != nil {…} without else.
func (f *source) isErrorCheck(stmt ast.Stmt, err *ast.Ident) bool {
	check, ok := stmt.(*ast.IfStmt)
	return ok && check.Init == nil && check.Else == nil && f.Source(check.Cond) == err.Name+" != nil"
}
