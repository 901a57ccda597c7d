package gocode

import (
	"go/ast"
	"strings"
)

// queues updates rate limiters to the type of requests, which controllers need since v0.19: in the options of
// controllers, and where the type of a limiter is named.
func queues(f *source) {
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if n.Type == nil || !f.refersTo(n.Type, runtimeModule+"/pkg/controller", "Options") {
				return true
			}
			for _, element := range n.Elts {
				if pair, ok := element.(*ast.KeyValueExpr); ok && f.Source(pair.Key) == "RateLimiter" {
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
		return true
	})
}

// limiters rewrites the results of a function that returns a rate limiter.
func (f *source) limiters(fn *ast.FuncDecl) {
	if fn.Body == nil || count(fn.Type.Results) != 1 || !f.refersTo(fn.Type.Results.List[0].Type, runtimeModule+"/pkg/ratelimiter", "RateLimiter") {
		return
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if ret, ok := n.(*ast.ReturnStmt); ok && len(ret.Results) == 1 {
			f.limiter(ret.Results[0])
		}
		return true
	})
}

// limiter rewrites calls that create limiters, including nested ones.
func (f *source) limiter(e ast.Expr) {
	switch e := e.(type) {
	case *ast.CallExpr:
		from, function := f.named(e.Fun)
		if from == queuePackage && strings.HasPrefix(function, "New") && strings.HasSuffix(function, "RateLimiter") && !strings.HasPrefix(function, "NewTyped") ||
			from == queuePackage && function == "DefaultControllerRateLimiter" {
			typed := "NewTyped" + strings.TrimPrefix(function, "New")
			if function == "DefaultControllerRateLimiter" {
				typed = "DefaultTypedControllerRateLimiter"
			}
			f.rename(e.Fun, typed+"["+f.requestType()+"]")
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
