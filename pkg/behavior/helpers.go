package behavior

import (
	"go/ast"
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

// helperDepth is the number of helpers that call each other, as far as they are followed.
const helperDepth = 3

// methodsOf returns the functions that make requests in a project with the given files.
func methodsOf(files []*gosource.File) requestMethods {
	methods := requestMethods{clients: clientMethods()}
	for range helperDepth {
		helpers, others := map[string][]requestMethod{}, map[string]bool{}
		for _, f := range files {
			for _, function := range functionsOf(f) {
				name := function.Name.Name
				found := passedOn(newScope(f, methods, function), function)
				helpers[name] = append(helpers[name], found...)
				others[name] = others[name] || len(found) == 0
			}
		}
		for name := range helpers {
			if others[name] { // a call names one of several functions
				delete(helpers, name)
			}
		}
		methods.helpers = helpers
	}
	return methods
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
func passedOn(s *scope, function *ast.FuncDecl) (methods []requestMethod) {
	var parameters []string
	for _, field := range function.Type.Params.List {
		for _, name := range field.Names {
			parameters = append(parameters, name.Name)
		}
	}
	ast.Inspect(function.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		for _, method := range s.methodsOf(call) {
			object, ok := call.Args[method.object].(*ast.Ident)
			if !ok {
				continue
			}
			place, kind := slices.Index(parameters, object.Name), s.declared[object.Name].kind
			if place >= 0 && (kind == "" || kind == "Object" || kind == "ObjectList") {
				methods = append(methods, requestMethod{place, method.verbs, method.ofStatus})
			}
		}
		return true
	})
	return methods
}
