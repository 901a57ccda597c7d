package helmchart

import (
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/rbac"
)

const (
	groupCRD      = "apiextensions.k8s.io"
	groupRBAC     = "rbac.authorization.k8s.io"
	groupPolicies = "admissionregistration.k8s.io"
)

func customResources(objects []RenderedObject, into map[rbac.GroupKind]string) {
	for _, o := range objects {
		if isCRD(o.groupKind()) {
			kind := rbac.GroupKind{Group: o.text("spec", "group"), Kind: o.text("spec", "names", "kind")}
			if plural := o.text("spec", "names", "plural"); plural != "" {
				into[kind] = plural
			}
		}
	}
}

// flatten replaces lists among objects by their items.
func flatten(objects []RenderedObject) []RenderedObject {
	var flat []RenderedObject
	for _, o := range objects {
		items, ok := o.Object["items"].([]any)
		if !ok || !strings.HasSuffix(o.text("kind"), "List") {
			flat = append(flat, o)
			continue
		}
		for _, item := range items {
			if fields, ok := item.(map[string]any); ok {
				flat = append(flat, RenderedObject{Template: o.Template, Hooks: o.Hooks, Object: fields})
			}
		}
	}
	return flat
}

// isTest reports whether an object is only created by "helm test".
func (o RenderedObject) isTest() bool {
	return len(o.Hooks) > 0 && !slices.ContainsFunc(o.Hooks, func(hook string) bool { return !strings.HasPrefix(hook, "test") })
}

func (o RenderedObject) groupKind() rbac.GroupKind {
	return rbac.GroupKind{Group: groupOf(o.text("apiVersion")), Kind: o.text("kind")}
}

func groupOf(apiVersion string) string {
	group, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		return ""
	}
	return group
}

// text returns a text field of the object, or "" if it has none.
func (o RenderedObject) text(path ...string) string {
	last := len(path) - 1
	text, _ := fieldAt(o.Object, path[:last]...)[path[last]].(string)
	return text
}

// fieldAt returns the mapping at a path of nested mappings, or nil.
func fieldAt(fields map[string]any, path ...string) map[string]any {
	for _, key := range path {
		fields, _ = fields[key].(map[string]any)
	}
	return fields
}
