package gocode

import "go/ast"

// runnables replaces the stop channel of functions that a manager runs by a context, as since v0.7: in
// manager.RunnableFunc, and in methods Start(stop <-chan struct{}) error of packages that import controller-runtime.
func runnables(f *source) {
	if !f.importsPath(runtimeModule) {
		return
	}
	for n := range ast.Preorder(f.AST) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv != nil && n.Name.Name == "Start" && f.isRunnable(n.Type) {
				f.runWithContext(n.Type, n.Body)
			}
		case *ast.CallExpr:
			if len(n.Args) != 1 || !f.refersTo(n.Fun, runtimeModule+"/pkg/manager", "RunnableFunc") {
				continue
			}
			if fn, ok := n.Args[0].(*ast.FuncLit); ok && f.isRunnable(fn.Type) {
				f.runWithContext(fn.Type, fn.Body)
			}
		}
	}
}

// isRunnable reports whether a type is func(<-chan struct{}) error.
func (f *source) isRunnable(t *ast.FuncType) bool {
	if t.Params.NumFields() != 1 || t.Results.NumFields() != 1 {
		return false
	}
	channel, ok := t.Params.List[0].Type.(*ast.ChanType)
	return ok && channel.Dir == ast.RECV && f.Source(channel.Value) == "struct{}" && f.Source(t.Results.List[0].Type) == "error"
}

func (f *source) runWithContext(t *ast.FuncType, body *ast.BlockStmt) {
	param := t.Params.List[0]
	f.replace(param.Type, f.use("context", "context")+".Context")
	if body == nil || len(param.Names) != 1 || param.Names[0].Name == "_" {
		return
	}
	name := "ctx"
	if isMentioned(body, "ctx") {
		name = param.Names[0].Name
	}
	f.replace(param.Names[0], name)
	for id := range uses(body, param.Names[0].Obj) {
		f.replace(id, name+".Done()")
	}
}
