package gocode

import "go/ast"

// caches rewrites cache.MultiNamespacedCacheBuilder(namespaces), which is gone since v0.16, where the namespaces are
// known when the program runs: a function that makes a cache of each.
func caches(f *source) {
	ast.Inspect(f.AST, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || !f.is(call.Fun, cachePackage, "MultiNamespacedCacheBuilder") {
			return true
		}
		cache := f.use(cachePackage, "cache")
		f.put(call.Pos(), call.Args[0].Pos(), "func(restConfig *"+f.use("k8s.io/client-go/rest", "rest")+".Config, cacheOptions "+cache+".Options) ("+cache+".Cache, error) {\n"+
			"cacheOptions.DefaultNamespaces = map[string]"+cache+".Config{}\n"+
			"for _, namespace := range ")
		f.put(call.Args[0].End(), call.End(), " {\n"+
			"cacheOptions.DefaultNamespaces[namespace] = "+cache+".Config{}\n"+
			"}\n"+
			"return "+cache+".New(restConfig, cacheOptions)\n"+
			"}")
		return true
	})
}
