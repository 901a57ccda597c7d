package gocode

import (
	"go/ast"
	"slices"
	"strings"
)

const (
	sourcePackage  = runtimeModule + "/pkg/source"
	handlerPackage = runtimeModule + "/pkg/handler"
	clientPackage  = runtimeModule + "/pkg/client"
)

// watches updates watches of controllers: builders get the object since v0.15, controllers a source with its cache and
// handler since v0.18.
func watches(f *source) {
	ast.PreorderStack(f.AST, nil, func(n ast.Node, stack []ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || call.Ellipsis.IsValid() {
			return true
		}
		switch name := method(call); {
		case name == "Watches" && len(call.Args) >= 2:
			f.builderWatches(call)
		case name == "WatchesRawSource" && len(call.Args) == 2:
			if kind, ok := call.Args[0].(*ast.CallExpr); ok && f.refersTo(kind.Fun, sourcePackage, "Kind") && len(kind.Args) == 2 {
				f.sourceWithHandler(kind, call, f.Source(kind.Args[0]), f.Source(kind.Args[1]))
			}
		case name == "Watch" && len(call.Args) >= 2:
			f.controllerWatch(call, stack)
		case name == "ForType" && len(call.Args) == 1 && f.isControllerBuilder(chainOf(call)[0]):
			f.replace(call.Fun.(*ast.SelectorExpr).Sel, "For")
		}
		return true
	})
}

func (f *source) isControllerBuilder(call *ast.CallExpr) bool {
	return f.refersTo(call.Fun, runtimeModule, "NewControllerManagedBy") ||
		f.refersTo(call.Fun, runtimeModule+"/pkg/builder", "ControllerManagedBy", "SimpleController")
}

// builderWatches rewrites Watches(&source.Kind{Type: &T{}}, …) and other sources that builders no longer accept.
func (f *source) builderWatches(call *ast.CallExpr) {
	selector := call.Fun.(*ast.SelectorExpr)
	if object := f.field(call.Args[0], sourcePackage, "Kind", "Type"); object != nil {
		f.replace(call.Args[0], f.Source(object))
		return
	}
	if channel := f.field(call.Args[0], sourcePackage, "Channel", "Source"); channel != nil && len(call.Args) == 2 {
		f.replace(selector.Sel, "WatchesRawSource")
		f.replaceRange(call.Args[0].Pos(), channel.Pos(), f.use(sourcePackage, "source")+".Channel(")
		f.replaceRange(channel.End(), call.Args[1].Pos(), ", ")
		f.insert(call.Args[1].End(), ")")
		return
	}
	if informer := f.field(call.Args[0], sourcePackage, "Informer", "Informer"); informer != nil && len(call.Args) == 2 {
		f.replace(selector.Sel, "WatchesRawSource")
		f.replaceRange(informer.End(), call.Args[1].Pos(), ", Handler: ")
		f.insert(call.Args[1].End(), "}")
	}
}

// controllerWatch rewrites Watch(&source.Kind{Type: &T{}}, handler, predicates…) if a manager is in scope, and the
// forms of v0.15 to v0.17.
func (f *source) controllerWatch(call *ast.CallExpr, stack []ast.Node) {
	if object := f.field(call.Args[0], sourcePackage, "Kind", "Type"); object != nil {
		if manager := f.managerIn(stack); manager != "" {
			f.sourceWithHandler(call.Args[0], call, manager+".GetCache()", f.Source(object))
		}
		return
	}
	if kind, ok := call.Args[0].(*ast.CallExpr); ok && f.refersTo(kind.Fun, sourcePackage, "Kind") && len(kind.Args) == 2 {
		f.sourceWithHandler(kind, call, f.Source(kind.Args[0]), f.Source(kind.Args[1]))
	}
}

// sourceWithHandler moves the arguments after a source into the source.
func (f *source) sourceWithHandler(old ast.Expr, call *ast.CallExpr, cache, object string) {
	f.replace(old, f.use(sourcePackage, "source")+".Kind["+f.use(clientPackage, "client")+".Object]("+cache+", "+object)
	f.insert(call.Args[len(call.Args)-1].End(), ")")
}

// field returns the value of the only field of &pkg.Type{Field: value}, or nil.
func (f *source) field(e ast.Expr, importPath, typeName, field string) ast.Expr {
	fields := f.fields(e, importPath, typeName)
	if len(fields) != 1 {
		return nil
	}
	return fields[field]
}

// fields returns the values of &pkg.Type{Field: value, …} by name, or nil if the expression is another one or contains
// comments that would be lost.
func (f *source) fields(e ast.Expr, importPath, typeName string) map[string]ast.Expr {
	if unary, ok := e.(*ast.UnaryExpr); ok {
		e = unary.X
	}
	literal, ok := e.(*ast.CompositeLit)
	if !ok || !f.refersTo(literal.Type, importPath, typeName) {
		return nil
	}
	fields := map[string]ast.Expr{}
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			return nil
		}
		if key, ok := pair.Key.(*ast.Ident); ok {
			fields[key.Name] = pair.Value
		}
	}
	if f.hasComments(literal, literal.Elts) {
		return nil
	}
	return fields
}

// hasComments reports whether a node contains comments outside of some of its expressions.
func (f *source) hasComments(n ast.Node, values []ast.Expr) bool {
	for _, group := range f.AST.Comments {
		within := n.Pos() < group.Pos() && group.End() < n.End()
		for _, v := range values {
			if pair, ok := v.(*ast.KeyValueExpr); ok {
				v = pair.Value
			}
			within = within && (group.End() < v.Pos() || v.End() < group.Pos())
		}
		if within {
			return true
		}
	}
	return false
}

// managerIn returns the manager that is a parameter of an enclosing function or of a builder, or "".
func (f *source) managerIn(stack []ast.Node) string {
	for _, n := range slices.Backward(stack) {
		if call, ok := n.(*ast.CallExpr); ok {
			if first := chainOf(call)[0]; f.isControllerBuilder(first) && len(first.Args) == 1 {
				if text := f.Source(first.Args[0]); !strings.ContainsAny(text, "(\n") {
					return text
				}
			}
		}
		if name := parameter(n, func(t ast.Expr) bool { return f.isRuntime(t, "manager", "Manager") }); name != "" {
			return name
		}
	}
	return ""
}
