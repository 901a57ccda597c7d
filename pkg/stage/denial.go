package stage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// A Denial is a permission that an operator lacks, in the terms of RBAC.
type Denial struct {
	Verb string
	// Resource has a subresource, as in pods/log.
	Group, Resource string
	// Namespace is where the permission is missing; empty is the whole cluster.
	Namespace string
	// Path is that of a request without a resource.
	Path string
}

// denied matches the messages of the API server's authorization.
var denied = lazyregexp.New(`User "[^"]*" cannot (\S+) (?:path "([^"]*)"|resource "([^"]*)" in API group "([^"]*)"(?: in the namespace "([^"]*)")?)`)

// DenialOf returns the permission for lack of which the API server refused a request. Admission refuses requests, too, but not for
// permissions.
func DenialOf(r gateway.Record) (d Denial, ok bool) {
	if r.ServerCode != 403 {
		return d, false
	}
	m := denied.FindStringSubmatch(r.Message)
	if m == nil {
		return d, false
	}
	return Denial{Verb: m[1], Path: m[2], Resource: m[3], Group: m[4], Namespace: m[5]}, true
}

// verbs returns the verbs to grant: informers list and watch, and a client with a cache uses them to get.
func (d Denial) verbs() []string {
	if d.Verb == "list" || d.Verb == "watch" {
		return []string{"get", "list", "watch"}
	}
	return []string{d.Verb}
}

// Marker returns the marker that grants the permission to a Go operator.
func (d Denial) Marker() string {
	if d.Path != "" {
		return fmt.Sprintf("// +kubebuilder:rbac:urls=%s,verbs=%s", d.Path, d.Verb)
	}
	group := d.Group
	if group == "" {
		group = `""`
	}
	return fmt.Sprintf("// +kubebuilder:rbac:groups=%s,resources=%s,verbs=%s", group, d.Resource, strings.Join(d.verbs(), ";"))
}

// Rule returns the rule of a Role or ClusterRole that grants the permission, as YAML in one line.
func (d Denial) Rule() string {
	if d.Path != "" {
		return fmt.Sprintf("- {nonResourceURLs: [%q], verbs: [%s]}", d.Path, d.Verb)
	}
	return fmt.Sprintf("- {apiGroups: [%q], resources: [%s], verbs: [%s]}", d.Group, d.Resource, strings.Join(d.verbs(), ", "))
}

// String says what is forbidden.
func (d Denial) String() string {
	if d.Path != "" {
		return d.Verb + " " + d.Path
	}
	text := d.Verb + " " + d.Resource
	if d.Group != "" {
		base, subresource, found := strings.Cut(d.Resource, "/")
		text = d.Verb + " " + base + "." + d.Group
		if found {
			text += "/" + subresource
		}
	}
	if d.Namespace != "" {
		return text + " in the namespace " + d.Namespace
	}
	return text + " in the whole cluster"
}

// Denials are the denials of a run, each once: a client lists and watches the same resource again and again.
type Denials struct{ list []Denial }

// Add adds a denial and reports whether its rule is new.
func (d *Denials) Add(denial Denial) bool {
	if slices.ContainsFunc(d.list, func(known Denial) bool { return known.Rule() == denial.Rule() }) {
		return false
	}
	d.list = append(d.list, denial)
	return true
}

// List returns the denials in the order in which they occurred.
func (d *Denials) List() []Denial { return slices.Clone(d.list) }
