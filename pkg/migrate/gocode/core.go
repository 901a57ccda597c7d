package gocode

import "go/ast"

// cores updates literals of core types of Kubernetes: handlers of probes and lifecycles have two types since v1.23, and
// resource requests of volume claims their own type since v1.29.
func cores(f *source) {
	ast.Inspect(f.AST, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		for _, element := range literal.Elts {
			pair, ok := element.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			value := pair.Value
			if unary, ok := value.(*ast.UnaryExpr); ok {
				value = unary.X
			}
			inner, ok := value.(*ast.CompositeLit)
			if !ok || inner.Type == nil {
				continue
			}
			key, handler := f.Source(pair.Key), f.refersTo(inner.Type, corePackage, "Handler")
			core := func(name string) { f.rename(inner.Type, name) }
			switch {
			case handler && key == "Handler":
				f.replace(pair.Key, "ProbeHandler")
				core("ProbeHandler")
			case handler && (key == "PostStart" || key == "PreStop"):
				core("LifecycleHandler")
			case key == "Resources" && literal.Type != nil && f.refersTo(literal.Type, corePackage, "PersistentVolumeClaimSpec") && f.refersTo(inner.Type, corePackage, "ResourceRequirements"):
				core("VolumeResourceRequirements")
			}
		}
		return true
	})
}
