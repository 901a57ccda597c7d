package gocode

import (
	"go/ast"
	"slices"
	"strings"
)

// builders updates the set-up of webhooks for v0.23, where the builder gets the object and its type at the start:
// NewWebhookManagedBy(mgr).For(&T{}) becomes NewWebhookManagedBy(mgr, &T{}), and webhooks for any object are set with
// the methods for these. The webhooks themselves are kept.
func builders(f *source) {
	ast.Inspect(f.AST, func(n ast.Node) bool {
		chain, at := f.webhookChain(n)
		if chain == nil {
			return true
		}
		f.insert(chain[0].Args[0].End(), ", "+f.Source(chain[at].Args[0]))
		// From the end of the preceding call to the end of For(…), including the line break.
		f.cut(chain[at-1].End(), chain[at].End())
		for _, c := range chain {
			if name, ok := strings.CutPrefix(method(c), "With"); ok && (name == "Defaulter" || name == "Validator") {
				f.rename(c.Fun, "WithCustom"+name)
			}
		}
		return false // the calls within are parts of the chain
	})
}

// webhookChain returns the calls of a webhook builder of controller-runtime that gets its object from For, and the index
// of that call. The calls are nil for other nodes.
func (f *source) webhookChain(n ast.Node) (chain []*ast.CallExpr, at int) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil, 0
	}
	chain = chainOf(call)
	at = slices.IndexFunc(chain, func(c *ast.CallExpr) bool { return method(c) == "For" && len(c.Args) == 1 })
	start := chain[0]
	if at < 0 || len(start.Args) != 1 || !f.refersTo(start.Fun, runtimeModule, "NewWebhookManagedBy") &&
		!f.refersTo(start.Fun, runtimeModule+"/pkg/builder", "WebhookManagedBy") {
		return nil, 0
	}
	return chain, at
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
