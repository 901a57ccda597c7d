package base

import (
	"fmt"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
)

// NewCSV returns the base CSV of a package without one. Its texts are placeholders.
func NewCSV(name string) map[string]any {
	display := DisplayName(name)
	return map[string]any{
		"apiVersion": v1alpha1.ClusterServiceVersionAPIVersion,
		"kind":       v1alpha1.ClusterServiceVersionKind,
		"metadata": map[string]any{
			"annotations": map[string]any{"alm-examples": "[]", "capabilities": "Basic Install"},
			"name":        name + ".v0.0.0",
			"namespace":   "placeholder",
		},
		"spec": map[string]any{
			"apiservicedefinitions":     map[string]any{},
			"customresourcedefinitions": map[string]any{},
			"description":               display + " description. TODO.",
			"displayName":               display,
			"icon":                      []any{map[string]any{"base64data": "", "mediatype": ""}},
			"install":                   map[string]any{"spec": map[string]any{"deployments": nil}, "strategy": ""},
			"installModes": []any{
				installMode(v1alpha1.InstallModeTypeOwnNamespace, false),
				installMode(v1alpha1.InstallModeTypeSingleNamespace, false),
				installMode(v1alpha1.InstallModeTypeMultiNamespace, false),
				installMode(v1alpha1.InstallModeTypeAllNamespaces, true),
			},
			"keywords":    []any{name},
			"links":       []any{map[string]any{"name": display, "url": fmt.Sprintf("https://%s.domain", name)}},
			"maintainers": []any{map[string]any{"email": "your@email.com", "name": "Maintainer Name"}},
			"maturity":    "alpha",
			"provider":    map[string]any{"name": "Provider Name", "url": "https://your.domain"},
			"version":     "0.0.0",
		},
	}
}

func installMode(mode v1alpha1.InstallModeType, supported bool) map[string]any {
	return map[string]any{"supported": supported, "type": string(mode)}
}
