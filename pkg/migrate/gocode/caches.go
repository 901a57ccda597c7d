package gocode

import "go/ast"

// caches replaces cache.MultiNamespacedCacheBuilder(namespaces), which v0.16 removed, by a function that creates a
// cache of the namespaces, if their number is not known before the program runs.
func caches(f *source) {
	for call := range nodes[*ast.CallExpr](f.AST) {
		if len(call.Args) != 1 || !f.refersTo(call.Fun, cachePackage, "MultiNamespacedCacheBuilder") {
			continue
		}
		cache, rest := f.use(cachePackage, "cache"), f.use("k8s.io/client-go/rest", "rest")
		f.replaceRange(call.Pos(), call.Args[0].Pos(),
			"func(restConfig *"+rest+".Config, cacheOptions "+cache+".Options) ("+cache+".Cache, error) {\n"+
				"cacheOptions.DefaultNamespaces = map[string]"+cache+".Config{}\n"+
				"for _, namespace := range ")
		f.replaceRange(call.Args[0].End(), call.End(), " {\n"+
			"cacheOptions.DefaultNamespaces[namespace] = "+cache+".Config{}\n"+
			"}\n"+
			"return "+cache+".New(restConfig, cacheOptions)\n"+
			"}")
	}
}
