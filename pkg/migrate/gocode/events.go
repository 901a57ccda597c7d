package gocode

import (
	"go/ast"
	"go/token"
	"maps"
	"strings"
)

const (
	eventPackage     = runtimeModule + "/pkg/event"
	predicatePackage = runtimeModule + "/pkg/predicate"
	queuePackage     = "k8s.io/client-go/util/workqueue"
)

// events updates functions with event parameters: objects contain their metadata since v0.7, handlers get a context
// since v0.15 and a queue of requests since v0.20.
func events(f *source) {
	for n := range ast.Preorder(f.AST) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			f.eventFunction(n.Type, n.Body)
		case *ast.FuncLit:
			f.eventFunction(n.Type, n.Body)
		case *ast.CompositeLit:
			f.eventLiteral(n)
		case *ast.CallExpr:
			if len(n.Args) == 1 && f.refersTo(n.Fun, predicatePackage, "NewPredicateFuncs") {
				f.filter(n.Args[0])
			}
		}
	}
}

// renameEventField renames a field of an event, if it has another name now.
func (f *source) renameEventField(name ast.Expr) {
	if current := currentEventField(f.Source(name)); current != "" {
		f.replace(name, current)
	}
}

// currentEventField returns the current name of a field of an event, or "" if it was not renamed.
func currentEventField(name string) string {
	return map[string]string{"Meta": "Object", "MetaOld": "ObjectOld", "MetaNew": "ObjectNew"}[name]
}

func (f *source) isEvent(e ast.Expr) bool {
	return f.refersTo(e, eventPackage, "CreateEvent", "UpdateEvent", "DeleteEvent", "GenericEvent")
}

func (f *source) eventFunction(t *ast.FuncType, body *ast.BlockStmt) {
	if body == nil {
		return
	}
	params := t.Params.List
	for _, p := range params {
		if !f.isEvent(p.Type) {
			continue
		}
		for _, name := range p.Names {
			for selector := range selections(body, name.Obj) {
				f.renameEventField(selector.Sel)
			}
		}
	}
	if len(params) == 0 || !f.refersTo(params[len(params)-1].Type, queuePackage, "RateLimitingInterface") {
		return
	}
	switch {
	case len(params) == 2 && f.isEvent(params[0].Type):
		f.addContext(t, body)
	case len(params) != 3 || !f.isEvent(params[1].Type):
		return
	}
	f.replace(params[len(params)-1].Type, f.use(queuePackage, "workqueue")+".TypedRateLimitingInterface["+f.requestType()+"]")
}

// requestType returns the type reconcile.Request with the name that the file uses.
func (f *source) requestType() string {
	if name := f.importedAs(runtimeModule); name != "" {
		return name + ".Request"
	}
	return f.use(runtimeModule+"/pkg/reconcile", "reconcile") + ".Request"
}

// eventLiteral rewrites a literal of an event, of which only the object remains.
func (f *source) eventLiteral(literal *ast.CompositeLit) {
	if !f.isEvent(literal.Type) {
		return
	}
	fields := maps.Collect(f.pairs(literal))
	for i, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if fields[currentEventField(f.Source(pair.Key))] != nil {
			f.cutElement(literal, i)
		} else {
			f.renameEventField(pair.Key)
		}
	}
}

// cutElement removes an element of a literal, with its line if nothing else is on it.
func (f *source) cutElement(literal *ast.CompositeLit, i int) {
	element := literal.Elts[i]
	end := literal.Rbrace
	if i+1 < len(literal.Elts) {
		end = literal.Elts[i+1].Pos()
	}
	before := literal.Lbrace
	if i > 0 {
		before = literal.Elts[i-1].End()
	}
	rest := strings.TrimSpace(string(f.Text[f.Offset(element.End()):f.LineEnd(element.End())]))
	switch {
	case f.Line(before) < f.Line(element.Pos()) && (rest == "," || rest == ""):
		f.cutLines(element.Pos(), element.End())
	case f.Line(before) < f.Line(element.Pos()) && strings.HasPrefix(rest, ","): // a comment follows, which is kept
		f.replaceRange(element.Pos(), element.End()+token.Pos(strings.Index(string(f.Text[f.Offset(element.End()):]), ",")+1), "")
	case i+1 < len(literal.Elts):
		f.cut(element.Pos(), end)
	case i > 0:
		f.cut(before, element.End())
	default:
		f.cut(element.Pos(), element.End())
	}
}

// filter rewrites func(meta metav1.Object, object runtime.Object) bool for predicates to a function of the object.
func (f *source) filter(e ast.Expr) {
	fn, ok := e.(*ast.FuncLit)
	if !ok || fn.Type.Params.NumFields() != 2 || len(fn.Type.Params.List) != 2 {
		return
	}
	meta, object := fn.Type.Params.List[0], fn.Type.Params.List[1]
	if len(meta.Names) != 1 || len(object.Names) != 1 {
		return
	}
	name, other := meta.Names[0], object.Names[0]
	if name.Name == "_" {
		name, other = other, name
	}
	f.replaceRange(meta.Pos(), object.End(), name.Name+" "+f.use(clientPackage, "client")+".Object")
	for id := range uses(fn.Body, other.Obj) {
		f.replace(id, name.Name)
	}
}
