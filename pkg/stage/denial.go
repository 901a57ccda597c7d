package stage

import (
	"fmt"
	"slices"

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

// denialMessage returns the message of the API server for a request that is denied.
func denialMessage(r gateway.Request) string {
	user := `User "" cannot ` + r.Verb
	if r.Resource == "" {
		return fmt.Sprintf("%s path %q", user, r.Path)
	}
	message := fmt.Sprintf("%s resource %q in API group %q", user, accessOf(r).resource, r.Group)
	if r.Namespace != "" {
		message += fmt.Sprintf(" in the namespace %q", r.Namespace)
	}
	return message
}

// Permission returns what to grant.
func (d Denial) Permission() Permission {
	p := Permission{Verbs: []string{d.Verb}, Group: d.Group, Resource: d.Resource, Path: d.Path}
	if d.Path == "" && (d.Verb == "list" || d.Verb == "watch") {
		p.Verbs = readVerbs()
	}
	return p
}

// Marker returns the marker that grants the permission to a Go operator.
func (d Denial) Marker() string { return d.Permission().Marker() }

// Rule returns the rule of a Role or ClusterRole that grants the permission, as YAML in one line.
func (d Denial) Rule() string { return d.Permission().Rule() }

// String says what is forbidden.
func (d Denial) String() string {
	text := d.Verb + " " + d.Permission().target()
	switch {
	case d.Path != "":
		return text
	case d.Namespace != "":
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
