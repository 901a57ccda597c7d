package gocode

import (
	"go/ast"
	"slices"
)

// decoders replaces *admission.Decoder by admission.Decoder, which is an interface since v0.15.
func decoders(f *source) {
	for star := range nodes[*ast.StarExpr](f.AST) {
		if f.refersTo(star.X, admissionPackage, "Decoder") {
			f.cut(star.Pos(), star.X.Pos())
		}
	}
}

// withoutError removes the error result of functions that no longer return one: client.ObjectKeyFromObject since v0.7 and
// admission.NewDecoder since v0.15. It must be ignored or used only in the following check.
func withoutError(f *source) {
	for block := range nodes[*ast.BlockStmt](f.AST) {
		for i, stmt := range block.List {
			assign, ok := stmt.(*ast.AssignStmt)
			if !ok || len(assign.Lhs) != 2 || len(assign.Rhs) != 1 {
				continue
			}
			call, ok := assign.Rhs[0].(*ast.CallExpr)
			if !ok || !f.refersTo(call.Fun, clientPackage, "ObjectKeyFromObject") &&
				!f.refersTo(call.Fun, admissionPackage, "NewDecoder") {
				continue
			}
			err, ok := assign.Lhs[1].(*ast.Ident)
			if !ok {
				continue
			}
			if err.Name != "_" {
				rest := block.List[i+1:]
				if len(rest) == 0 || !f.isErrorCheck(rest[0], err) || f.hasComments(rest[0], nil) ||
					slices.ContainsFunc(rest[1:], func(other ast.Stmt) bool { return isMentioned(other, err.Name) }) {
					continue
				}
				f.cutStatement(rest[0])
			}
			f.cut(assign.Lhs[0].End(), err.End())
		}
	}
}

// isErrorCheck reports whether a statement is if err != nil {…} without else.
func (f *source) isErrorCheck(stmt ast.Stmt, err *ast.Ident) bool {
	check, ok := stmt.(*ast.IfStmt)
	return ok && check.Init == nil && check.Else == nil && f.Source(check.Cond) == err.Name+" != nil"
}
