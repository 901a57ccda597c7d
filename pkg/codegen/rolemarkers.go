package codegen

import (
	"bytes"
	"go/parser"
	"go/token"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A RoleMarker is a marker with rules of a Role or ClusterRole. Name is empty if the role has the name in the call of controller-gen, and
// Namespace is empty for a ClusterRole.
type RoleMarker struct {
	Name, Namespace string
	Position        diag.Position
}

// RoleMarkers returns the markers of roles that have a name or namespace of their own, in the order of their packages and files.
func (r *Result) RoleMarkers() []RoleMarker {
	var found []RoleMarker
	prefix := ruleMarkerPrefix()
	for _, pkg := range r.packages {
		for _, file := range pkg.files {
			if !bytes.Contains(file.content, []byte(prefix)) {
				continue
			}
			fset := token.NewFileSet()
			tree, err := parser.ParseFile(fset, file.name, file.content, parseMode)
			if err != nil {
				continue // reported when code is generated
			}
			for pos, text := range markersIn(tree) {
				rule, ok := ParseRuleMarker(text)
				if !ok || rule.Namespace == "" && rule.RoleName == "" {
					continue
				}
				found = append(found, RoleMarker{Name: rule.RoleName, Namespace: rule.Namespace, Position: findingAt(fset.PositionFor(pos, false), "").Position})
			}
		}
	}
	return found
}
