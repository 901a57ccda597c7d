package gocode

import (
	"go/ast"
	"go/token"
)

// owners makes handlers functions: &handler.EnqueueRequestForOwner{…} needs the manager's scheme and mapper now, so it
// stays where no manager is at hand. &handler.EnqueueRequestsFromMapFunc{ToRequests: f} is from before v0.7.
func owners(f *source) {
	ast.PreorderStack(f.AST, nil, func(n ast.Node, stack []ast.Node) bool {
		unary, ok := n.(*ast.UnaryExpr)
		if !ok || unary.Op != token.AND {
			return true
		}
		if mapper := f.field(unary, handlerPackage, "EnqueueRequestsFromMapFunc", "ToRequests"); mapper != nil {
			if call, ok := mapper.(*ast.CallExpr); ok && f.is(call.Fun, handlerPackage, "ToRequestsFunc") && len(call.Args) == 1 {
				mapper = call.Args[0]
			}
			f.put(unary.Pos(), mapper.Pos(), f.use(handlerPackage, "handler")+".EnqueueRequestsFromMapFunc(")
			f.put(mapper.End(), unary.End(), ")")
			return true
		}
		fields := f.fields(unary, handlerPackage, "EnqueueRequestForOwner")
		manager := f.managerIn(stack)
		if fields["OwnerType"] == nil || manager == "" {
			return true
		}
		text := ""
		if only := fields["IsController"]; only != nil {
			switch f.Source(only) {
			case "true":
				text = ", " + f.use(handlerPackage, "handler") + ".OnlyControllerOwner()"
			case "false":
			default:
				return true
			}
		}
		f.replace(unary, f.use(handlerPackage, "handler")+".EnqueueRequestForOwner("+
			manager+".GetScheme(), "+manager+".GetRESTMapper(), "+f.Source(fields["OwnerType"])+text+")")
		return false
	})
}

// mappers gives functions that map objects to requests a context (v0.15 and later), and those from before v0.7 the
// object itself: function literals of that kind wherever they are, and the project's own functions that are handed to
// handlers.
func mappers(f *source) {
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			if f.maps(n.Type) {
				f.mapWithContext(n.Type, n.Body)
			}
		case *ast.CallExpr:
			if len(n.Args) == 1 && f.is(n.Fun, handlerPackage, "EnqueueRequestsFromMapFunc", "MapFunc", "ToRequestsFunc") {
				f.mapper(n.Args[0])
			}
		case *ast.SelectorExpr:
			if f.is(n, handlerPackage, "ToRequestsFunc") {
				f.replace(n.Sel, "MapFunc")
			}
		}
		return true
	})
}

// mapper rewrites the function or method of the project that an expression names.
func (f *source) mapper(e ast.Expr) {
	key := f.own(e)
	fn := f.program.functions[key]
	if fn.decl == nil || f.program.contextual[key] || !fn.source.maps(fn.decl.Type) {
		return
	}
	f.program.contextual[key] = true
	fn.source.mapWithContext(fn.decl.Type, fn.decl.Body)
}

// own is the key of a function or method of the project that an expression names.
func (f *source) own(e ast.Expr) string {
	dir, name := f.Dir(), ""
	switch e := e.(type) {
	case *ast.Ident:
		name = e.Name
	case *ast.SelectorExpr:
		name = e.Sel.Name
		if from, _ := f.named(e); from != "" {
			dir, _ = f.program.dirOf(from)
		}
	}
	return dir + "." + name
}

// maps tells of func(client.Object) []reconcile.Request, and of the form with handler.MapObject.
func (f *source) maps(t *ast.FuncType) bool {
	if count(t.Params) != 1 || count(t.Results) != 1 {
		return false
	}
	list, ok := t.Results.List[0].Type.(*ast.ArrayType)
	param := t.Params.List[0].Type
	return ok && list.Len == nil && f.isRuntime(list.Elt, "reconcile", "Request") &&
		(f.is(param, clientPackage, "Object") || f.is(param, handlerPackage, "MapObject"))
}

func (f *source) mapWithContext(t *ast.FuncType, body *ast.BlockStmt) {
	f.addContext(t, body)
	param := t.Params.List[0]
	if !f.is(param.Type, handlerPackage, "MapObject") {
		return
	}
	f.replace(param.Type, f.use(clientPackage, "client")+".Object")
	if len(param.Names) != 1 || body == nil {
		return
	}
	ast.Inspect(body, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok || selector.Sel.Name != "Meta" && selector.Sel.Name != "Object" {
			return true
		}
		if id, ok := selector.X.(*ast.Ident); ok && id.Obj == param.Names[0].Obj {
			f.cut(id.End(), selector.End())
			return false
		}
		return true
	})
}

// mapped passes a context to map functions of the project where they are called by name.
func mapped(f *source) {
	ast.PreorderStack(f.AST, nil, func(n ast.Node, stack []ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return true
		}
		key := f.own(call.Fun)
		fn := f.program.functions[key]
		if f.program.contextual[key] && fn.decl != nil && fn.decl.Name.Name != "Reconcile" && count(fn.decl.Type.Params) == 2 {
			f.insert(call.Args[0].Pos(), f.contextIn(stack)+", ")
		}
		return true
	})
}
