package gocode

import (
	"go/ast"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/operon-sdk/operon/pkg/diag"
)

// pins returns notes about replace and exclude directives of go.mod, which are kept and may not fit the new requirements.
func pins(mod []byte) diag.Findings {
	file, err := modfile.Parse("go.mod", mod, nil)
	if err != nil {
		return nil
	}
	var notes diag.Findings
	add := func(line *modfile.Line, verb string) {
		text := strings.TrimPrefix(strings.Join(line.Token, " "), verb+" ")
		notes.Addf(diag.Position{File: "go.mod"}, "kept %s %s; check whether it is still needed", verb, text)
	}
	for _, r := range file.Replace {
		if r.New.Version != "" { // directories have no versions
			add(r.Syntax, "replace")
		}
	}
	for _, e := range file.Exclude {
		add(e.Syntax, "exclude")
	}
	return notes
}

// unnamed returns notes about controllers for the same kind without explicit names, because a manager accepts a name
// only once since v0.19.
func (p *program) unnamed() diag.Findings {
	all := map[string]diag.Findings{}
	for _, f := range p.files {
		if f.IsTest() {
			continue
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			chain := chainOf(call)
			if !f.isControllerBuilder(chain[0]) {
				return true
			}
			kind := ""
			for _, c := range chain[1:] {
				switch {
				case method(c) == "Named":
					return false
				case method(c) == "For" && len(c.Args) > 0:
					kind = f.Source(c.Args[0])
				}
			}
			if kind != "" {
				problem := "several controllers for " + strings.TrimSuffix(strings.TrimPrefix(kind, "&"), "{}") +
					" have the same name, which a manager rejects; add Named"
				all[kind] = append(all[kind], diag.Finding{Position: f.at(chain[0].Pos()), Problem: problem})
			}
			return false
		})
	}
	var notes diag.Findings
	for _, list := range all {
		if len(list) > 1 {
			notes = append(notes, list...)
		}
	}
	return notes
}

// leftovers records notes about code that compiles and behaves differently. It must be the last rewrite, for correct lines.
func leftovers(f *source) {
	const ginkgo2 = ginkgo + "/v2"
	for n := range ast.Preorder(f.AST) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv != nil && f.isInjector(n) {
				f.note(n.Name.Pos(), "controller-runtime no longer calls "+n.Name.Name+"; set the value where the object is created")
			}
		case *ast.CallExpr:
			if f.refersTo(n.Fun, ginkgo2, "Measure", "FMeasure", "PMeasure", "XMeasure") {
				f.note(n.Pos(), "Measure does nothing in Ginkgo v2; write a spec with gomega/gmeasure")
			}
		case *ast.KeyValueExpr:
			removed := []string{`"configmaps"`, `"endpoints"`, `"configmapsleases"`, `"endpointsleases"`}
			if lock := f.Source(n.Value); f.Source(n.Key) == "LeaderElectionResourceLock" && slices.Contains(removed, lock) {
				f.note(n.Pos(), "unsupported lock "+lock+" for leader election; use \"leases\"")
			}
		case *ast.Field:
			if f.refersTo(n.Type, ginkgo2, "Done") {
				f.note(n.Pos(), "Ginkgo v2 does not wait until done is closed; wait with Eventually")
			}
		}
	}
}

// isInjector reports whether a method is one by which controller-runtime before v0.15 injected values.
func (f *source) isInjector(d *ast.FuncDecl) bool {
	if d.Type.Params.NumFields() != 1 || !f.importsPath(runtimeModule) {
		return false
	}
	param := d.Type.Params.List[0].Type
	switch d.Name.Name {
	case "InjectClient":
		return f.refersTo(param, clientPackage, "Client")
	case "InjectAPIReader":
		return f.refersTo(param, clientPackage, "Reader")
	case "InjectDecoder":
		return f.refersTo(param, admissionPackage, "Decoder")
	case "InjectCache":
		return f.refersTo(param, cachePackage, "Cache")
	case "InjectScheme", "InjectConfig", "InjectMapper", "InjectLogger":
		return true
	}
	return false
}
