package gocode

import "go/ast"

// reconcilers adds the context of v0.7 to Reconcile(req): in methods, functions for reconcile.Func, and interfaces.
func reconcilers(f *source) {
	for n := range ast.Preorder(f.AST) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv != nil && n.Name.Name == "Reconcile" && f.isReconcile(n.Type) {
				f.addContext(n.Type, n.Body)
				f.program.contextual[f.Dir()+".Reconcile"] = true
			}
		case *ast.InterfaceType:
			for _, m := range n.Methods.List {
				if t, ok := m.Type.(*ast.FuncType); ok && len(m.Names) == 1 && m.Names[0].Name == "Reconcile" && f.isReconcile(t) {
					f.addContext(t, nil)
				}
			}
		case *ast.FuncLit:
			if f.isReconcile(n.Type) {
				f.addContext(n.Type, n.Body)
			}
		}
	}
}

// isReconcile reports whether a type is func(reconcile.Request) (reconcile.Result, error).
func (f *source) isReconcile(t *ast.FuncType) bool {
	return t.Params.NumFields() == 1 && f.isRuntime(t.Params.List[0].Type, "reconcile", "Request") &&
		t.Results.NumFields() == 2 && f.isRuntime(t.Results.List[0].Type, "reconcile", "Result")
}

// isRuntime reports whether an expression is a name of a package of controller-runtime below pkg, or its alias in the
// root package.
func (f *source) isRuntime(e ast.Expr, pkg, name string) bool {
	return f.refersTo(e, runtimeModule+"/pkg/"+pkg, name) || f.refersTo(e, runtimeModule, name)
}

// requests adds a context to calls of Reconcile methods of the project, as in tests, if the argument is clearly a request.
func requests(f *source) {
	ast.PreorderStack(f.AST, nil, func(n ast.Node, stack []ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || method(call) != "Reconcile" || !f.canCall("Reconcile") {
			return true
		}
		if f.isRequest(call.Args[0]) {
			f.insert(call.Args[0].Pos(), f.contextIn(stack)+", ")
		}
		return true
	})
}

// canCall reports whether the file's package, or a package of the project that it imports, has a function of a name
// that was given a context.
func (f *source) canCall(name string) bool {
	if f.program.contextual[f.Dir()+"."+name] {
		return true
	}
	for _, p := range f.imports {
		if dir, inModule := f.program.dirOf(p); inModule && f.program.contextual[dir+"."+name] {
			return true
		}
	}
	return false
}

// isRequest reports whether the file shows that an expression is a reconcile.Request.
func (f *source) isRequest(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CompositeLit:
		return f.isRuntime(e.Type, "reconcile", "Request")
	case *ast.Ident:
		return isDeclaredWith(e, func(typeOrValue ast.Expr) bool {
			return f.isRuntime(typeOrValue, "reconcile", "Request") || f.isRequest(typeOrValue)
		})
	case *ast.CallExpr:
		if id, ok := e.Fun.(*ast.Ident); ok {
			t := f.program.functions[f.Dir()+"."+id.Name]
			return t.source != nil && t.decl.Type.Results.NumFields() == 1 &&
				t.source.isRuntime(t.decl.Type.Results.List[0].Type, "reconcile", "Request")
		}
	}
	return false
}
