package project

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/operon-sdk/operon/pkg/diag"
)

// ResourceOptions are the flags of create api and create webhook that identify an API.
type ResourceOptions struct {
	Group, Version, Kind, Plural string
	// API and Controller select what to create: Go types, a controller. Namespaced is the scope of new types.
	API, Controller, Namespaced bool
	// ControllerName is the name of the controller (default: the lower-case kind).
	ControllerName string
	// ExternalPath, ExternalDomain and ExternalModule are the origin of types of another module.
	ExternalPath, ExternalDomain, ExternalModule string
	// NoTypes reports whether the kind has no Go types, like kinds with Helm charts or Ansible roles.
	NoTypes bool
	// Force allows existing APIs and controllers.
	Force bool
}

// DefaultScope reports whether the API of the options is namespaced by default: all versions of a kind have the same scope.
func DefaultScope(c *Config, o ResourceOptions) bool {
	own := GVK{Group: o.Group, Domain: c.Domain(), Kind: o.Kind}
	for _, r := range c.Resources() {
		if r.HasAPI() && r.QualifiedGroup() == own.QualifiedGroup() && r.Kind == own.Kind {
			return r.API.Namespaced
		}
	}
	return true
}

// ResolveResource returns the resource of the options, as it will be recorded in PROJECT: an API of the project, of Kubernetes or of
// another module. The new API and controller are added to an existing resource. The findings are all problems of the options and
// all conflicts with existing resources.
func ResolveResource(c *Config, o ResourceOptions) (Resource, diag.Findings) {
	r, findings := resolveOrigin(c, o)
	if o.Plural != "" {
		findings = append(findings, CheckPlural(o.Plural)...)
		if recorded, ok := c.Resource(r.GVK); ok && recorded.Plural != o.Plural && !(o.API && o.Force) {
			findings = append(findings, one("--plural", o.Plural, "the kind has another plural in PROJECT", recorded.Plural)...)
		}
		r.Plural = o.Plural
	}
	if o.ControllerName != "" {
		findings = append(findings, CheckControllerName(o.ControllerName)...)
		if !o.Controller {
			findings = append(findings, one("--controller-name", o.ControllerName, "cannot be combined with --controller=false", "")...)
		}
	}
	if o.API && !o.Namespaced && c.Namespaced() {
		findings = append(findings, one("--namespaced", "false",
			"the manager of the project watches one namespace, and its Roles do not allow access to cluster-scoped kinds; omit the flag", "")...)
	}
	if len(findings) > 0 {
		// Conflicts of invalid names are not relevant.
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

// resolveOrigin returns the API of the options, and validates its names by the rules of its origin.
func resolveOrigin(c *Config, o ResourceOptions) (Resource, diag.Findings) {
	own := GVK{Group: o.Group, Domain: c.Domain(), Version: o.Version, Kind: o.Kind}
	recorded, exists := c.Resource(own)
	if o.API {
		findings := slices.Concat(externalMisuse(o), CheckGroup(o.Group, c.Domain()), CheckVersion(o.Version), CheckKind(o.Kind))
		r := recorded
		if !exists {
			r = Resource{GVK: own, Plural: pluralOf(c, own)}
		}
		if r.Path = c.APIPath(o.Group, o.Version); o.NoTypes {
			r.Path = ""
		}
		return r, findings
	}
	if exists && recorded.HasAPI() {
		return recorded, externalMisuse(o)
	}
	if hasExternal(o) {
		return resolveExternal(c, o)
	}
	for _, other := range c.Resources() {
		if other.External && other.Group == o.Group && other.Version == o.Version && other.Kind == o.Kind {
			return other, nil
		}
	}
	if versions := coreGroup(o.Group); versions != nil {
		v, findings := checkCore(versions, o.Version, o.Kind)
		r := Resource{GVK: GVK{Group: o.Group, Domain: versions[0].domain, Version: o.Version, Kind: o.Kind}}
		if recorded, ok := c.Resource(r.GVK); ok {
			recorded.Path = v.path() // a peer may have recorded a path that does not exist
			return recorded, findings
		}
		r.Core, r.Path, r.Plural = true, v.path(), RegularPlural(o.Kind)
		if o.Plural != "" && o.Plural != r.Plural {
			findings = append(findings, one("--plural", o.Plural, "is not the plural of the kind in Kubernetes", r.Plural)...)
		}
		return r, findings
	}
	findings := slices.Concat(CheckGroup(o.Group, c.Domain()), CheckVersion(o.Version), CheckKind(o.Kind))
	if exists && len(findings) == 0 {
		return recorded, nil
	}
	if near := coreGroupNamed(o.Group); near != "" {
		findings = slices.DeleteFunc(findings, func(f diag.Finding) bool { return f.Field == "--group" })
		findings = append(findings, one("--group", o.Group, "is not a group of the project or of Kubernetes", near)...)
	} else if len(findings) == 0 {
		f := diag.Finding{Field: "--kind", Value: o.Kind}
		f.Problem = fmt.Sprintf("the project has no API %s; create it with --resource, or pass the import path of its Go types with --external-api-path", own)
		f.Suggestion = nearestKind(c, own)
		findings = append(findings, f)
	}
	return Resource{GVK: own, Plural: RegularPlural(o.Kind)}, findings
}

// pluralOf returns the plural of another version of a kind, or else of its CRD, or the default one.
func pluralOf(c *Config, gvk GVK) string {
	for _, other := range c.Resources() {
		if other.QualifiedGroup() == gvk.QualifiedGroup() && other.Kind == gvk.Kind {
			return other.Plural
		}
	}
	if plural, ok := c.deployedPlural(Resource{GVK: gvk}); ok {
		return plural
	}
	return DefaultPlural(gvk.Kind)
}

// nearestKind returns the kind of the project that a misspelled one probably means.
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

// externalMisuse reports flags for types of other modules if the project has the types.
func externalMisuse(o ResourceOptions) diag.Findings {
	var findings diag.Findings
	for _, flag := range []struct{ name, value string }{
		{"--external-api-path", o.ExternalPath}, {"--external-api-domain", o.ExternalDomain}, {"--external-api-module", o.ExternalModule},
	} {
		if flag.value != "" {
			findings = append(findings, one(flag.name, flag.value, "is for APIs of another module, but this one is part of the project; omit it, or pass --resource=false", "")...)
		}
	}
	return findings
}

// resolveExternal validates an API of another module. Its names need to be valid only for Kubernetes and generated code.
func resolveExternal(c *Config, o ResourceOptions) (Resource, diag.Findings) {
	var findings diag.Findings
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
		findings = append(findings, one("--external-api-path", o.ExternalPath, "is a package of this project; omit it", "")...)
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
		findings = append(findings, one("--group", o.Group, "must start with a letter: Go code imports it as "+r.ImportAlias(), "")...)
	}
	if problem := nameLabelProblem(o.Version); problem != "" || strings.Contains(o.Version, "-") {
		if problem == "" {
			problem = "must not contain '-': Go code imports the types as " + r.ImportAlias()
		}
		findings = append(findings, one("--version", o.Version, problem, suggestVersion(o.Version))...)
	}
	findings = append(findings, CheckKind(o.Kind)...)
	if recorded, ok := c.Resource(r.GVK); ok && len(findings) == 0 {
		recorded.Path, recorded.External = r.Path, true
		recorded.Module = cmp.Or(r.Module, recorded.Module)
		return recorded, nil
	}
	return r, findings
}

// importPathProblem returns why a text is not a Go import path, or "".
func importPathProblem(p string) string {
	if strings.Contains(p, "://") {
		return "must be a Go import path, not a URL"
	}
	if err := module.CheckImportPath(p); err != nil {
		return strings.Replace(pathProblem(p, err), "module path", "import path", 1)
	}
	return ""
}

// moduleProblem returns why a text is not PATH or PATH@VERSION of the module of importPath, or "".
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
			return fmt.Sprintf("version %q does not fit the module path: from v2 on, the path ends in the major version, as in %s/%s",
				version, strings.TrimSuffix(p, major), semver.Major(version))
		}
	}
	if importPath != "" && importPath != p && !strings.HasPrefix(importPath, p+"/") {
		return "does not contain the package of --external-api-path"
	}
	return ""
}
