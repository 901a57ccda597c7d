package project

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// collisions reports names of a new resource that conflict with existing ones. r does not include the API and controller of the
// options yet.
func collisions(c *Config, r Resource, o ResourceOptions) diag.Findings {
	var findings diag.Findings
	if o.API && r.HasAPI() && !o.Force {
		findings = append(findings, one("--kind", o.Kind, fmt.Sprintf("API %s already exists; pass --force to overwrite it", r.GVK), "")...)
	}
	for _, other := range c.Resources() {
		if other.GVK == r.GVK {
			continue
		}
		if o.API {
			findings = append(findings, apiCollisions(c, r, other, o)...)
		}
		findings = append(findings, aliasCollisions(c, r, other)...)
	}
	if o.Controller {
		findings = append(findings, controllerCollisions(c, r, o)...)
	}
	return findings.Distinct()
}

// aliasCollisions reports a conflict of the import aliases of two packages.
func aliasCollisions(c *Config, r, other Resource) diag.Findings {
	if r.Core || other.Core || r.Path == "" || other.Path == "" || r.Path == other.Path || r.ImportAlias() != other.ImportAlias() {
		return nil
	}
	if r.QualifiedGroup() == other.QualifiedGroup() {
		return pathCollision(c, r, other)
	}
	return one("--group", r.Group,
		fmt.Sprintf("Go code would import it as %s, which already is group %s", r.ImportAlias(), other.QualifiedGroup()), "")
}

// pathCollision reports that PROJECT has different paths for kinds of one group and version: the one that is not in the layout.
func pathCollision(c *Config, r, other Resource) diag.Findings {
	wrong, right := other, r
	if other.Path == c.APIPath(other.Group, other.Version) {
		wrong, right = r, other
	}
	return diag.Findings{{
		Position: c.PathPosition(wrong.GVK),
		Problem:  fmt.Sprintf("path %q of kind %s differs from %s, the package of %s/%s", wrong.Path, wrong.Kind, right.Path, right.QualifiedGroup(), right.Version),
		Fix:      "correct the path, or move the types of the kind to that package",
	}}
}

// sameController reports whether controllers of two resources would have the same file, Go type or name.
func sameController(c *Config, r Resource, name string, other Resource, taken string) bool {
	samePackage := !c.MultiGroup() || other.Group == r.Group
	sameFile := samePackage && fileName(taken) == fileName(name)
	sameType := samePackage && strings.EqualFold(other.ReconcilerName(taken), r.ReconcilerName(name))
	return sameFile || sameType || other.ControllerName(taken, c.MultiGroup()) == r.ControllerName(name, c.MultiGroup())
}

// apiCollisions reports names of a new API that conflict with another resource's.
func apiCollisions(c *Config, r, other Resource, o ResourceOptions) diag.Findings {
	if other.QualifiedGroup() != r.QualifiedGroup() {
		return groupCollisions(c, r, other, o)
	}
	if other.Kind == r.Kind {
		return versionCollisions(r, other, o)
	}
	var findings diag.Findings
	if strings.EqualFold(other.Kind, r.Kind) {
		return one("--kind", o.Kind, fmt.Sprintf("differs from kind %s of %s/%s only in case; both would have the same file and resource names",
			other.Kind, other.QualifiedGroup(), other.Version), other.Kind)
	}
	// Kinds and list kinds of a group must be distinct in Kubernetes, types of a package in Go.
	suffixes := []string{"List"}
	if other.Version == r.Version && other.HasAPI() && !o.NoTypes {
		suffixes = append(suffixes, "Spec", "Status")
	}
	for _, suffix := range suffixes {
		if r.Kind == other.Kind+suffix {
			findings = append(findings, one("--kind", o.Kind, fmt.Sprintf("is the name of a type of kind %s", other.Kind), "")...)
		}
		if other.Kind == r.Kind+suffix {
			findings = append(findings, one("--kind", o.Kind, fmt.Sprintf("needs a type %s, which already is a kind of the project", other.Kind), "")...)
		}
	}
	// Plural and singular names of a group must be distinct in Kubernetes. The singular is the lower-case kind.
	field, value := "--kind", o.Kind
	if o.Plural != "" {
		field, value = "--plural", o.Plural
	}
	switch singular := strings.ToLower(r.Kind); {
	case r.Plural == other.Plural:
		findings = append(findings, one(field, value, fmt.Sprintf("plural %s is already used by kind %s; choose another with --plural", r.Plural, other.Kind), "")...)
	case r.Plural == strings.ToLower(other.Kind):
		findings = append(findings, one(field, value, fmt.Sprintf("plural %s is the singular of kind %s; choose another with --plural", r.Plural, other.Kind), "")...)
	case singular == other.Plural:
		findings = append(findings, one("--kind", o.Kind, fmt.Sprintf("its singular %s is the plural of kind %s", singular, other.Kind), "")...)
	}
	return findings
}

// groupCollisions reports conflicts of a new API with one of another group.
func groupCollisions(c *Config, r, other Resource, o ResourceOptions) diag.Findings {
	if !other.HasAPI() {
		return nil
	}
	if other.Group == r.Group {
		return one("--group", o.Group, fmt.Sprintf("%s records kind %s of this group with %s, but the project's domain is %s; correct the key domain of that resource",
			FileName, other.Kind, domainText(other.Domain), r.Domain), "")
	}
	if !c.MultiGroup() {
		return one("--group", o.Group, fmt.Sprintf("the project has group %s; run 'operon edit --multigroup' before adding another", cmp.Or(other.Group, other.Domain)), other.Group)
	}
	if !o.NoTypes && r.PackageName() == other.PackageName() {
		return one("--group", o.Group, fmt.Sprintf("its Go package %s would have the name of the package of group %s", r.PackageName(), other.Group), "")
	}
	return nil
}

// domainText returns a domain for messages.
func domainText(domain string) string {
	if domain == "" {
		return "no domain"
	}
	return "domain " + domain
}

// versionCollisions reports conflicts of a new version of a kind with another one: all versions in a CustomResourceDefinition
// have the same plural and scope.
func versionCollisions(r, other Resource, o ResourceOptions) diag.Findings {
	if !other.HasAPI() {
		return nil
	}
	var findings diag.Findings
	if r.Plural != other.Plural {
		findings = append(findings, one("--plural", r.Plural, fmt.Sprintf("version %s of the kind has plural %s; all versions share one", other.Version, other.Plural), other.Plural)...)
	}
	if o.Namespaced != other.API.Namespaced {
		findings = append(findings, one("--namespaced", fmt.Sprint(o.Namespaced),
			fmt.Sprintf("version %s of the kind has the other scope; all versions share one", other.Version), fmt.Sprint(other.API.Namespaced))...)
	}
	return findings
}

// controllerCollisions reports controllers with the name, file or Go type of a new one.
func controllerCollisions(c *Config, r Resource, o ResourceOptions) diag.Findings {
	field, value, name := "--controller-name", o.ControllerName, o.ControllerName
	if name == "" {
		field, value, name = "--kind", o.Kind, r.FileStem()
	}
	if o.Force && slices.Contains(r.Controllers, name) {
		return nil
	}
	if o.ControllerName == "" && r.HasController() {
		if o.Force {
			return nil
		}
		return one(field, value, fmt.Sprintf("the project has a controller for it (%s); name another with --controller-name, or pass --controller=false",
			strings.Join(r.Controllers, ", ")), "")
	}
	var findings diag.Findings
	for _, other := range c.Resources() {
		for _, taken := range other.Controllers {
			if sameController(c, r, name, other, taken) {
				advice := "choose another name"
				if o.ControllerName == "" {
					advice = "name this one with --controller-name, or pass --controller=false"
				}
				findings = append(findings, one(field, value, fmt.Sprintf("controller %s of %s has the same file, type or name; %s", taken, other.GVK, advice), "")...)
			}
		}
	}
	return findings
}

// fileName returns the beginning of the file name of a controller.
func fileName(controller string) string { return strings.ReplaceAll(controller, "-", "_") }
