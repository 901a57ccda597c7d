package behavior

import (
	"go/ast"
	"maps"
	"slices"

	"github.com/operon-sdk/operon/pkg/gosource"
)

// A requestMethod is a function that makes requests: the place of its argument that is the object, and the verbs of the requests.
type requestMethod struct {
	object int
	verbs  []string
	// ofStatus reports whether a helper's request is for the subresource status.
	ofStatus bool
}

// requestMethods are the functions that make requests, by name: the methods of clients and controller builders with the functions of
// controllerutil, and helpers, which are functions of the project that pass an object of any kind on to one of them.
type requestMethods struct {
	clients map[string]requestMethod
	helpers map[string][]requestMethod
}

// helperDepth is how many helpers a request is followed through.
const helperDepth = 3

// methodsOf returns the functions that make requests in a project with the given functions.
func methodsOf(scopes []*scope) requestMethods {
	methods := requestMethods{clients: clientMethods()}
	for range helperDepth {
		helpers, others := map[string][]requestMethod{}, map[string]bool{}
		for _, s := range scopes {
			name, found := s.function.Name.Name, s.passedOn(methods)
			helpers[name] = append(helpers[name], found...)
			others[name] = others[name] || len(found) == 0
		}
		maps.DeleteFunc(helpers, func(name string, _ []requestMethod) bool { return others[name] }) // a call names one of several functions
		methods.helpers = helpers
	}
	return methods
}

// of returns what a call does if it makes requests.
func (m requestMethods) of(call *ast.CallExpr) []requestMethod {
	name := gosource.CalledName(call)
	if selector, ok := call.Fun.(*ast.SelectorExpr); ok {
		if method, ok := m.clients[name]; ok {
			if on, ok := selector.X.(*ast.CallExpr); ok {
				method.ofStatus = gosource.CalledName(on) == "Status"
			}
			return []requestMethod{method}
		}
	}
	return m.helpers[name]
}

// clientMethods are the methods of clients and controller builders, and functions of controllerutil. Clients that read through a cache list
// and watch.
func clientMethods() map[string]requestMethod {
	informs, reads := []string{"list", "watch"}, []string{"get", "list", "watch"}
	method := func(object int, verbs ...string) requestMethod { return requestMethod{object: object, verbs: verbs} }
	return map[string]requestMethod{
		"For": method(0, informs...), "Owns": method(0, informs...), "Watches": method(0, informs...), "WatchesMetadata": method(0, informs...),
		"Get": method(2, reads...), "List": method(1, reads...), "Create": method(1, "create"), "Update": method(1, "update"), "Patch": method(1, "patch"),
		"Apply": method(1, "patch", "create"), "Delete": method(1, "delete"), "DeleteAllOf": method(1, "deletecollection"),
		"CreateOrUpdate": method(2, append(reads, "create", "update")...), "CreateOrPatch": method(2, append(reads, "create", "patch")...),
	}
}

// passedOn returns the requests of a function for its parameters, if they can be of any kind.
func (s *scope) passedOn(methods requestMethods) (passed []requestMethod) {
	var parameters []string
	for _, field := range s.function.Type.Params.List {
		for _, name := range field.Names {
			parameters = append(parameters, name.Name)
		}
	}
	s.eachRequest(methods, func(_ *ast.CallExpr, method requestMethod, object ast.Expr) {
		id, ok := object.(*ast.Ident)
		if !ok {
			return
		}
		place, kind := slices.Index(parameters, id.Name), s.declared[id.Name].kind
		if place >= 0 && (kind == "" || kind == "Object" || kind == "ObjectList") {
			passed = append(passed, requestMethod{place, method.verbs, method.ofStatus})
		}
	})
	return passed
}
