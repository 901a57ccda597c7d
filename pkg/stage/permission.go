package stage

import (
	"fmt"
	"strings"
)

// A Permission is what a rule of RBAC permits to do with one resource or path.
type Permission struct {
	Verbs []string
	// Resource has a subresource, as in pods/log.
	Group, Resource string
	// Path is that of requests without a resource.
	Path string
}

// Marker returns the marker that grants the permission to a Go operator.
func (p Permission) Marker() string {
	verbs := strings.Join(p.Verbs, ";")
	if p.Path != "" {
		return fmt.Sprintf("// +kubebuilder:rbac:urls=%s,verbs=%s", p.Path, verbs)
	}
	group := p.Group
	if group == "" {
		group = `""`
	}
	return fmt.Sprintf("// +kubebuilder:rbac:groups=%s,resources=%s,verbs=%s", group, p.Resource, verbs)
}

// Rule returns the rule of a Role or ClusterRole that grants the permission, as YAML in one line.
func (p Permission) Rule() string {
	verbs := strings.Join(p.Verbs, ", ")
	if p.Path != "" {
		return fmt.Sprintf("- {nonResourceURLs: [%q], verbs: [%s]}", p.Path, verbs)
	}
	return fmt.Sprintf("- {apiGroups: [%q], resources: [%s], verbs: [%s]}", p.Group, p.Resource, verbs)
}

// String returns the permission as a sentence says it: "create, delete deployments.apps/scale".
func (p Permission) String() string { return strings.Join(p.Verbs, ", ") + " " + p.target() }

// target returns the path, or the resource with its group and subresource.
func (p Permission) target() string {
	if p.Path != "" {
		return p.Path
	}
	if p.Group == "" {
		return p.Resource
	}
	base, subresource, found := strings.Cut(p.Resource, "/")
	if found {
		subresource = "/" + subresource
	}
	return base + "." + p.Group + subresource
}

// readVerbs are granted together: informers list and watch, and a client with a cache uses them to get.
func readVerbs() []string { return []string{"get", "list", "watch"} }
