package gocode

import (
	"go/ast"
	"go/token"
	"strings"
)

// configFiles removes the code that read the manager's options from a file, which controller-runtime does not support
// since v0.16: the block of the scaffold, and the flag for the file. Edited code is left to the compiler.
func configFiles(f *source) {
	for fn := range nodes[*ast.FuncDecl](f.AST) {
		if fn.Body == nil {
			continue
		}
		for _, stmt := range fn.Body.List {
			if file := f.readsConfigFile(stmt); file != nil {
				f.cutLines(stmt.Pos(), stmt.End())
				f.cutFlag(fn.Body, file, stmt)
			}
		}
	}
}

// readsConfigFile returns the variable with the file name if a statement is the block that reads options from it.
func (f *source) readsConfigFile(stmt ast.Stmt) *ast.Ident {
	block, ok := stmt.(*ast.IfStmt)
	if !ok || block.Init != nil || block.Else != nil || len(block.Body.List) == 0 || len(block.Body.List) > 2 ||
		f.hasComments(block, nil) {
		return nil
	}
	condition, ok := block.Cond.(*ast.BinaryExpr)
	if !ok || condition.Op != token.NEQ || f.Source(condition.Y) != `""` {
		return nil
	}
	file, ok := condition.X.(*ast.Ident)
	if !ok {
		return nil
	}
	assign, ok := block.Body.List[0].(*ast.AssignStmt)
	if !ok || len(assign.Rhs) != 1 || assign.Tok != token.ASSIGN {
		return nil
	}
	call, ok := assign.Rhs[0].(*ast.CallExpr)
	if !ok || method(call) != "AndFrom" && method(call) != "AndFromOrDie" || len(call.Args) != 1 {
		return nil
	}
	loader, ok := call.Args[0].(*ast.CallExpr)
	if !ok {
		return nil
	}
	chain := chainOf(loader) // ctrl.ConfigFile().AtPath(file), without types of the project
	if len(chain) != 2 || method(chain[1]) != "AtPath" || !f.refersTo(chain[0].Fun, runtimeModule, "ConfigFile") &&
		!f.refersTo(chain[0].Fun, runtimeModule+"/pkg/config", "File") {
		return nil
	}
	return file
}

// cutFlag removes the variable with the file name and its flag if nothing else uses it.
func (f *source) cutFlag(body *ast.BlockStmt, file *ast.Ident, read ast.Stmt) {
	var declared, flagged ast.Stmt
	flagName := ""
	for _, stmt := range body.List {
		switch s := stmt.(type) {
		case *ast.DeclStmt:
			if file.Obj != nil && declaresString(s, file.Obj) {
				declared = s
				continue
			}
		case *ast.ExprStmt:
			call, ok := s.X.(*ast.CallExpr)
			if ok && f.refersTo(call.Fun, "flag", "StringVar") && len(call.Args) == 4 && f.Source(call.Args[0]) == "&"+file.Name {
				flagged, flagName = s, strings.Trim(f.Source(call.Args[1]), `"`)
				continue
			}
		}
		if stmt != read && isMentioned(stmt, file.Name) {
			return
		}
	}
	if declared == nil || flagged == nil {
		return
	}
	f.cutStatement(declared)
	f.cutStatement(flagged)
	f.noteRemoved("removed flag --" + flagName + ": controller-runtime no longer reads options from files; " +
		"set them with flags or in the manager's options")
}

// declaresString reports whether a statement is var x string.
func declaresString(s *ast.DeclStmt, object *ast.Object) bool {
	gen, ok := s.Decl.(*ast.GenDecl)
	if !ok || len(gen.Specs) != 1 {
		return false
	}
	spec, ok := gen.Specs[0].(*ast.ValueSpec)
	return ok && len(spec.Names) == 1 && spec.Names[0].Obj == object
}
