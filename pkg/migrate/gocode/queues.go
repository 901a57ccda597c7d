package gocode

import (
	"go/ast"
	"strings"
)

// queues updates rate limiters to the type of requests, which controllers need since v0.19: in the options of
// controllers, and where the type of a limiter is named.
func queues(f *source) {
	for n := range ast.Preorder(f.AST) {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if !f.refersTo(n.Type, runtimeModule+"/pkg/controller", "Options") {
				continue
			}
			for key, pair := range f.pairs(n) {
				if key == "RateLimiter" {
					f.limiter(pair.Value)
				}
			}
		case *ast.FuncDecl:
			f.limiters(n)
		case *ast.SelectorExpr:
			if f.refersTo(n, runtimeModule+"/pkg/ratelimiter", "RateLimiter") {
				f.replace(n, f.use(queuePackage, "workqueue")+".TypedRateLimiter["+f.requestType()+"]")
			}
		}
	}
}

// limiters rewrites the results of a function that returns a rate limiter.
func (f *source) limiters(fn *ast.FuncDecl) {
	if fn.Body == nil || fn.Type.Results.NumFields() != 1 ||
		!f.refersTo(fn.Type.Results.List[0].Type, runtimeModule+"/pkg/ratelimiter", "RateLimiter") {
		return
	}
	for ret := range nodes[*ast.ReturnStmt](fn.Body) {
		if len(ret.Results) == 1 {
			f.limiter(ret.Results[0])
		}
	}
}

// limiter rewrites calls that create limiters, including nested ones.
func (f *source) limiter(e ast.Expr) {
	switch e := e.(type) {
	case *ast.CallExpr:
		from, function := f.named(e.Fun)
		name, isNew := strings.CutPrefix(function, "New")
		switch {
		case from != queuePackage:
		case function == "DefaultControllerRateLimiter":
			f.rename(e.Fun, "DefaultTypedControllerRateLimiter["+f.requestType()+"]")
		case isNew && strings.HasSuffix(name, "RateLimiter") && !strings.HasPrefix(name, "Typed"):
			f.rename(e.Fun, "NewTyped"+name+"["+f.requestType()+"]")
		}
		for _, arg := range e.Args {
			f.limiter(arg)
		}
	case *ast.UnaryExpr:
		if literal, ok := e.X.(*ast.CompositeLit); ok && f.refersTo(literal.Type, queuePackage, "BucketRateLimiter") {
			f.rename(literal.Type, "TypedBucketRateLimiter["+f.requestType()+"]")
		}
	}
}
