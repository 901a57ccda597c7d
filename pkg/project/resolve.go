package project

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/operon-sdk/operon/pkg/diag"
)

// ResourceOptions are the flags of create api and create webhook that name an API.
type ResourceOptions struct {
	Group, Version, Kind, Plural string
	// API and Controller tell what to make: the Go types, a controller. Namespaced is the scope of new types.
	API, Controller, Namespaced bool
	// ControllerName names the controller; empty for the kind's lower-case name.
	ControllerName string
	// ExternalPath, ExternalDomain and ExternalModule say where types of others come from.
	ExternalPath, ExternalDomain, ExternalModule string
	// Force makes again what is there already.
	Force bool
}

// DefaultScope reports whether the API that the options name is namespaced unless the user says so: all versions of a
// kind share one scope.
func DefaultScope(c *Config, o ResourceOptions) bool {
	own := GVK{Group: o.Group, Domain: c.Domain(), Kind: o.Kind}
	for _, r := range c.Resources() {
		if r.HasAPI() && r.QualifiedGroup() == own.QualifiedGroup() && r.Kind == own.Kind {
			return r.API.Namespaced
		}
	}
	return true
}

// ResolveResource computes the resource that the options mean in the project, as PROJECT is to record it:
// an API of the project, one that comes with Kubernetes, or one from another module. What is recorded
// already is kept, the new API and controller added to it. The findings name everything that is wrong with
// the options, and every collision with what the project has.
func ResolveResource(c *Config, o ResourceOptions) (Resource, Findings) {
	r, findings := resolveOrigin(c, o)
	if o.Plural != "" {
		findings = append(findings, CheckPlural(o.Plural)...)
		if known, there := c.Resource(r.GVK); there && known.Plural != o.Plural && !(o.API && o.Force) {
			findings = append(findings, one("--plural", o.Plural, "the project records another plural for the kind", known.Plural)...)
		}
		r.Plural = o.Plural
	}
	if o.ControllerName != "" {
		findings = append(findings, CheckControllerName(o.ControllerName)...)
		if !o.Controller {
			findings = append(findings, one("--controller-name", o.ControllerName, "names a controller, but --controller=false asks for none", "")...)
		}
	}
	if o.API && !o.Namespaced && c.Namespaced() {
		findings = append(findings, one("--namespaced", "false",
			"the project's manager watches one namespace, and its Roles do not reach cluster-scoped kinds; leave the flag out", "")...)
	}
	if len(findings) > 0 {
		// Collisions of names that are wrong would only be noise.
		return r, findings
	}
	findings = collisions(c, r, o)
	if o.API {
		r.API = &API{CRDVersion: "v1", Namespaced: o.Namespaced}
	}
	if o.Controller {
		name := o.ControllerName
		if name == "" && len(r.Controllers) == 0 {
			name = r.FileStem()
		}
		if name != "" && !slices.Contains(r.Controllers, name) {
			r.Controllers = append(slices.Clone(r.Controllers), name)
		}
	}
	return r, findings
}

// resolveOrigin finds out whose API the options mean, and validates its names by the rules of its origin.
func resolveOrigin(c *Config, o ResourceOptions) (Resource, Findings) {
	own := GVK{Group: o.Group, Domain: c.Domain(), Version: o.Version, Kind: o.Kind}
	recorded, there := c.Resource(own)
	if o.API {
		findings := slices.Concat(externalMisuse(o), CheckGroup(o.Group, c.Domain()), CheckVersion(o.Version), CheckKind(o.Kind))
		r := recorded
		if !there {
			r = Resource{GVK: own, Plural: pluralOf(c, own)}
		}
		r.Path = c.APIPath(o.Group, o.Version)
		return r, findings
	}
	if there && recorded.HasAPI() {
		return recorded, externalMisuse(o)
	}
	if hasExternal(o) {
		return resolveExternal(c, o)
	}
	for _, known := range c.Resources() {
		sameName := known.Group == o.Group && known.Version == o.Version && known.Kind == o.Kind
		if sameName && known.External {
			return known, nil
		}
	}
	if versions := coreGroup(o.Group); versions != nil {
		v, findings := checkCore(versions, o.Version, o.Kind)
		r := Resource{GVK: GVK{Group: o.Group, Domain: versions[0].domain, Version: o.Version, Kind: o.Kind}}
		if known, ok := c.Resource(r.GVK); ok {
			// Recorded by a peer it may have a path that does not exist.
			known.Path = v.path()
			return known, findings
		}
		r.Core, r.Path, r.Plural = true, v.path(), RegularPlural(o.Kind)
		if o.Plural != "" && o.Plural != r.Plural {
			findings = append(findings, one("--plural", o.Plural, "is not the plural of Kubernetes' own kind", r.Plural)...)
		}
		return r, findings
	}
	findings := slices.Concat(CheckGroup(o.Group, c.Domain()), CheckVersion(o.Version), CheckKind(o.Kind))
	if there && len(findings) == 0 {
		return recorded, nil
	}
	if near := coreGroupNamed(o.Group); near != "" {
		findings = slices.DeleteFunc(findings, func(f Finding) bool { return f.Field == "--group" })
		findings = append(findings, one("--group", o.Group, "is neither a group of the project nor, in this form, one of Kubernetes", near)...)
	} else if len(findings) == 0 {
		f := Finding{Field: "--kind", Value: o.Kind}
		f.Problem = fmt.Sprintf("the project has no API %s; create it with --resource, or say where its Go types are with --external-api-path", own)
		f.Suggestion = nearestKind(c, own)
		findings = append(findings, f)
	}
	return Resource{GVK: own, Plural: RegularPlural(o.Kind)}, findings
}

// pluralOf is the plural that the kind has in another version, or the regular one.
func pluralOf(c *Config, gvk GVK) string {
	for _, other := range c.Resources() {
		if other.QualifiedGroup() == gvk.QualifiedGroup() && other.Kind == gvk.Kind {
			return other.Plural
		}
	}
	return defaultPlural(gvk.Kind)
}

func nearestKind(c *Config, gvk GVK) string {
	var kinds []string
	for _, other := range c.Resources() {
		if other.QualifiedGroup() == gvk.QualifiedGroup() && other.Version == gvk.Version {
			kinds = append(kinds, other.Kind)
		}
	}
	near, _ := diag.Nearest(gvk.Kind, kinds)
	return near
}

func hasExternal(o ResourceOptions) bool {
	return o.ExternalPath != "" || o.ExternalDomain != "" || o.ExternalModule != ""
}

// externalMisuse finds flags for types of others where the project has the types itself.
func externalMisuse(o ResourceOptions) Findings {
	var findings Findings
	for _, flag := range []struct{ name, value string }{
		{"--external-api-path", o.ExternalPath}, {"--external-api-domain", o.ExternalDomain}, {"--external-api-module", o.ExternalModule},
	} {
		if flag.value != "" {
			findings = append(findings, one(flag.name, flag.value, "is for APIs of another module, but the project holds this one; leave it out, or pass --resource=false", "")...)
		}
	}
	return findings
}

// resolveExternal validates an API of another module. Its names follow that module's taste, so only what
// Kubernetes and generated code need is demanded of them.
func resolveExternal(c *Config, o ResourceOptions) (Resource, Findings) {
	var findings Findings
	r := Resource{
		GVK:      GVK{Group: o.Group, Domain: o.ExternalDomain, Version: o.Version, Kind: o.Kind},
		Plural:   RegularPlural(o.Kind),
		Path:     o.ExternalPath,
		Module:   o.ExternalModule,
		External: true,
	}
	if o.ExternalPath == "" {
		name, value := "--external-api-domain", o.ExternalDomain
		if value == "" {
			name, value = "--external-api-module", o.ExternalModule
		}
		findings = append(findings, one(name, value, "needs --external-api-path, the import path of the Go types", "")...)
	} else if problem := importPathProblem(o.ExternalPath); problem != "" {
		findings = append(findings, one("--external-api-path", o.ExternalPath, problem, "")...)
	} else if o.ExternalPath == c.Repo() || strings.HasPrefix(o.ExternalPath, c.Repo()+"/") {
		findings = append(findings, one("--external-api-path", o.ExternalPath, "is a package of this project; leave it out", "")...)
	}
	if o.ExternalDomain != "" {
		if problem := subdomainProblem(o.ExternalDomain); problem != "" {
			findings = append(findings, one("--external-api-domain", o.ExternalDomain, problem, suggestSubdomain(o.ExternalDomain))...)
		}
	}
	if problem := moduleProblem(o.ExternalModule, o.ExternalPath); problem != "" {
		findings = append(findings, one("--external-api-module", o.ExternalModule, problem, "")...)
	}
	switch {
	case o.Group == "" && o.ExternalDomain == "":
		findings = append(findings, one("--group", o.Group, required+" without --external-api-domain", "")...)
	case o.Group != "" && subdomainProblem(o.Group) != "":
		findings = append(findings, one("--group", o.Group, subdomainProblem(o.Group), suggestSubdomain(o.Group))...)
	case !isLower((r.PackageName() + "0")[0]) && len(findings) == 0:
		findings = append(findings, one("--group", o.Group, "must start with a letter, as Go code imports it as "+r.ImportAlias(), "")...)
	}
	if problem := nameLabelProblem(o.Version); problem != "" || strings.Contains(o.Version, "-") {
		if problem == "" {
			problem = "must not contain '-', as Go code imports the types as " + r.ImportAlias()
		}
		findings = append(findings, one("--version", o.Version, problem, suggestVersion(o.Version))...)
	}
	findings = append(findings, CheckKind(o.Kind)...)
	if known, ok := c.Resource(r.GVK); ok && len(findings) == 0 {
		known.Path, known.External = r.Path, true
		if r.Module != "" {
			known.Module = r.Module
		}
		return known, nil
	}
	return r, findings
}

func importPathProblem(p string) string {
	if strings.Contains(p, "://") {
		return "must be a Go import path, not a URL"
	}
	if err := module.CheckImportPath(p); err != nil {
		return strings.Replace(pathProblem(p, err), "module path", "import path", 1)
	}
	return ""
}

// moduleProblem checks PATH or PATH@VERSION, of which the package at importPath must be part.
func moduleProblem(m, importPath string) string {
	if m == "" {
		return ""
	}
	p, version, pinned := strings.Cut(m, "@")
	if problem := repoProblem(p); problem != "" {
		return problem
	}
	if pinned && module.CanonicalVersion(version) != version || pinned && !semver.IsValid(version) {
		return fmt.Sprintf("version %q must be an exact version such as v1.2.3", version)
	}
	if pinned {
		if _, major, ok := module.SplitPathVersion(p); ok && module.CheckPathMajor(version, major) != nil {
			return fmt.Sprintf("version %q does not fit the module path: from v2 on the path ends in the major version, as in %s/%s",
				version, strings.TrimSuffix(p, major), semver.Major(version))
		}
	}
	if importPath != "" && importPath != p && !strings.HasPrefix(importPath, p+"/") {
		return "does not hold the package of --external-api-path"
	}
	return ""
}
