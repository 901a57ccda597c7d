package gocode

import (
	"go/ast"
	"slices"
)

// builders updates the set-up of webhooks for v0.23, where the builder gets the object and its type at the start:
// NewWebhookManagedBy(mgr).For(&T{}) becomes NewWebhookManagedBy(mgr, &T{}), and webhooks for any object are set with
// the methods for these. The webhooks themselves are kept.
func builders(f *source) {
	ast.Inspect(f.AST, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		chain := chainOf(call)
		if len(chain) < 2 || !f.isWebhookBuilder(chain[0]) || len(chain[0].Args) != 1 {
			return true
		}
		at := slices.IndexFunc(chain, func(c *ast.CallExpr) bool { return method(c) == "For" && len(c.Args) == 1 })
		if at < 0 {
			return true
		}
		f.insert(chain[0].Args[0].End(), ", "+f.Source(chain[at].Args[0]))
		// From the end of the preceding call to the end of For(…), including the line break.
		f.cut(chain[at-1].End(), chain[at].End())
		for _, c := range chain {
			if renamed := map[string]string{"WithDefaulter": "WithCustomDefaulter", "WithValidator": "WithCustomValidator"}[method(c)]; renamed != "" {
				f.replace(c.Fun.(*ast.SelectorExpr).Sel, renamed)
			}
		}
		return false // the calls within are parts of the chain
	})
}

// isWebhookBuilder reports whether a call starts a webhook builder of controller-runtime.
func (f *source) isWebhookBuilder(call *ast.CallExpr) bool {
	return f.refersTo(call.Fun, runtimeModule, "NewWebhookManagedBy") || f.refersTo(call.Fun, runtimeModule+"/pkg/builder", "WebhookManagedBy")
}

// chainOf returns the calls of a().b().c(), starting with a.
func chainOf(call *ast.CallExpr) []*ast.CallExpr {
	var chain []*ast.CallExpr
	for {
		chain = append(chain, call)
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			break
		}
		inner, ok := selector.X.(*ast.CallExpr)
		if !ok {
			break
		}
		call = inner
	}
	slices.Reverse(chain)
	return chain
}

func method(call *ast.CallExpr) string {
	if selector, ok := call.Fun.(*ast.SelectorExpr); ok {
		return selector.Sel.Name
	}
	return ""
}
