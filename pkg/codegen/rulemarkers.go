package codegen

import (
	"strings"

	"sigs.k8s.io/controller-tools/pkg/rbac"

	"github.com/operon-sdk/operon/pkg/gosource"
)

// A RuleMarker is an RBAC marker.
type RuleMarker struct {
	Groups, Resources, ResourceNames, URLs, Verbs []string
	// Namespace and RoleName are those of a role of its own, or empty.
	Namespace, RoleName string
	// From and To are the offsets of the text of the marker in its file, from the plus sign.
	From, To int
}

// RuleMarkers returns the valid RBAC markers of a file in order, also those in places where they have no effect.
func RuleMarkers(f *gosource.File) (found []RuleMarker) {
	for pos, text := range markersIn(f.AST) {
		if m, ok := ParseRuleMarker(text); ok {
			m.From = f.Offset(pos)
			m.To = m.From + len(text)
			found = append(found, m)
		}
	}
	return found
}

// ParseRuleMarker parses the text of an RBAC marker, without its offsets.
func ParseRuleMarker(text string) (m RuleMarker, ok bool) {
	if !strings.HasPrefix(text, ruleMarkerPrefix()) {
		return m, false
	}
	value, err := rbac.RuleDefinition.Parse(text)
	r, ok := value.(rbac.Rule)
	if err != nil || !ok {
		return m, false
	}
	return RuleMarker{
		Groups: r.Groups, Resources: r.Resources, ResourceNames: r.ResourceNames, URLs: r.URLs, Verbs: r.Verbs, Namespace: r.Namespace, RoleName: r.RoleName,
	}, true
}

// ruleMarkerPrefix begins RBAC markers.
func ruleMarkerPrefix() string { return "+" + rbac.RuleDefinition.Name + ":" }
