package gocode

import (
	"go/ast"
	"go/token"
)

// owners replaces &handler.EnqueueRequestForOwner{…} by the function that needs the scheme and mapper of a manager;
// without a manager in scope it is kept. It also replaces &handler.EnqueueRequestsFromMapFunc{ToRequests: f} from
// before v0.7.
func owners(f *source) {
	ast.PreorderStack(f.AST, nil, func(n ast.Node, stack []ast.Node) bool {
		unary, ok := n.(*ast.UnaryExpr)
		if !ok || unary.Op != token.AND {
			return true
		}
		if mapper := f.field(unary, handlerPackage, "EnqueueRequestsFromMapFunc", "ToRequests"); mapper != nil {
			call, ok := mapper.(*ast.CallExpr)
			if ok && len(call.Args) == 1 && f.refersTo(call.Fun, handlerPackage, "ToRequestsFunc") {
				mapper = call.Args[0]
			}
			f.replaceRange(unary.Pos(), mapper.Pos(), f.use(handlerPackage, "handler")+".EnqueueRequestsFromMapFunc(")
			f.replaceRange(mapper.End(), unary.End(), ")")
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

// mappers adds a context to functions that map objects to requests, as since v0.15, and passes the object to those from
// before v0.7: function literals of the type, and functions of the project that are passed to handlers.
func mappers(f *source) {
	for n := range ast.Preorder(f.AST) {
		switch n := n.(type) {
		case *ast.FuncLit:
			if f.isMapFunc(n.Type) {
				f.mapWithContext(n.Type, n.Body)
			}
		case *ast.CallExpr:
			if len(n.Args) == 1 && f.refersTo(n.Fun, handlerPackage, "EnqueueRequestsFromMapFunc", "MapFunc", "ToRequestsFunc") {
				f.mapper(n.Args[0])
			}
		case *ast.SelectorExpr:
			if f.refersTo(n, handlerPackage, "ToRequestsFunc") {
				f.replace(n.Sel, "MapFunc")
			}
		}
	}
}

// mapper rewrites the function or method of the project to which an expression refers.
func (f *source) mapper(e ast.Expr) {
	key := f.ownKey(e)
	fn := f.program.functions[key]
	if fn.decl == nil || f.program.contextual[key] || !fn.source.isMapFunc(fn.decl.Type) {
		return
	}
	f.program.contextual[key] = true
	fn.source.mapWithContext(fn.decl.Type, fn.decl.Body)
}

// ownKey returns the key of the function or method of the project to which an expression refers.
func (f *source) ownKey(e ast.Expr) string {
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

// isMapFunc reports whether a type is func(client.Object) []reconcile.Request, or the form with handler.MapObject.
func (f *source) isMapFunc(t *ast.FuncType) bool {
	if t.Params.NumFields() != 1 || t.Results.NumFields() != 1 {
		return false
	}
	list, ok := t.Results.List[0].Type.(*ast.ArrayType)
	param := t.Params.List[0].Type
	return ok && list.Len == nil && f.isRuntime(list.Elt, "reconcile", "Request") &&
		(f.refersTo(param, clientPackage, "Object") || f.refersTo(param, handlerPackage, "MapObject"))
}

func (f *source) mapWithContext(t *ast.FuncType, body *ast.BlockStmt) {
	f.addContext(t, body)
	param := t.Params.List[0]
	if !f.refersTo(param.Type, handlerPackage, "MapObject") {
		return
	}
	f.replace(param.Type, f.use(clientPackage, "client")+".Object")
	if len(param.Names) != 1 || body == nil {
		return
	}
	for selector := range selections(body, param.Names[0].Obj) {
		if selector.Sel.Name == "Meta" || selector.Sel.Name == "Object" {
			f.cut(selector.X.End(), selector.End())
		}
	}
}

// mapped adds a context to direct calls of map functions of the project.
func mapped(f *source) {
	ast.PreorderStack(f.AST, nil, func(n ast.Node, stack []ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return true
		}
		key := f.ownKey(call.Fun)
		fn := f.program.functions[key].decl
		if f.program.contextual[key] && fn != nil && fn.Name.Name != "Reconcile" && fn.Type.Params.NumFields() == 2 {
			f.insert(call.Args[0].Pos(), f.contextIn(stack)+", ")
		}
		return true
	})
}
