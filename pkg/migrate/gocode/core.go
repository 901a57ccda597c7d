package gocode

import "go/ast"

// cores updates literals of core types of Kubernetes: handlers of probes and lifecycles have two types since v1.23, and
// resource requests of volume claims their own type since v1.29.
func cores(f *source) {
	for literal := range nodes[*ast.CompositeLit](f.AST) {
		for key, pair := range f.pairs(literal) {
			value := pair.Value
			if unary, ok := value.(*ast.UnaryExpr); ok {
				value = unary.X
			}
			inner, ok := value.(*ast.CompositeLit)
			if !ok {
				continue
			}
			handler := f.refersTo(inner.Type, corePackage, "Handler")
			switch {
			case handler && key == "Handler":
				f.replace(pair.Key, "ProbeHandler")
				f.rename(inner.Type, "ProbeHandler")
			case handler && (key == "PostStart" || key == "PreStop"):
				f.rename(inner.Type, "LifecycleHandler")
			case key == "Resources" && f.refersTo(literal.Type, corePackage, "PersistentVolumeClaimSpec") &&
				f.refersTo(inner.Type, corePackage, "ResourceRequirements"):
				f.rename(inner.Type, "VolumeResourceRequirements")
			}
		}
	}
}
