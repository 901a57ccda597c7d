package modernize

import "go/ast"

// leftovers tells of what compiles and does not do what it did. It comes last, for its lines to be right.
func leftovers(f *source) {
	ginkgo2 := ginkgo + "/v2"
	ast.Inspect(f.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv != nil && f.isInjector(n) {
				f.note(n.Name.Pos(), n.Name.Name+" is not called any more: give what it sets to the value where it is made")
			}
		case *ast.CallExpr:
			if f.is(n.Fun, ginkgo2, "Measure", "FMeasure", "PMeasure", "XMeasure") {
				f.note(n.Pos(), "Measure does nothing in Ginkgo v2: write a spec with gomega/gmeasure")
			}
		case *ast.Field:
			if n.Type != nil && f.is(n.Type, ginkgo2, "Done") {
				f.note(n.Pos(), "Ginkgo v2 does not wait until done is closed: wait with Eventually")
			}
		}
		return true
	})
}

// isInjector tells of the methods by which controller-runtime before v0.15 handed things over.
func (f *source) isInjector(d *ast.FuncDecl) bool {
	if count(d.Type.Params) != 1 || !f.importsPath(runtimeModule) {
		return false
	}
	param := d.Type.Params.List[0].Type
	switch d.Name.Name {
	case "InjectClient":
		return f.is(param, clientPackage, "Client")
	case "InjectAPIReader":
		return f.is(param, clientPackage, "Reader")
	case "InjectDecoder":
		return f.is(param, admissionPackage, "Decoder")
	case "InjectCache":
		return f.is(param, cachePackage, "Cache")
	case "InjectScheme", "InjectConfig", "InjectMapper", "InjectLogger":
		return true
	}
	return false
}
