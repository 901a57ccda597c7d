package action

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/migrate"
	"github.com/operon-sdk/operon/pkg/project"
)

// ScaffoldNames returns the names in the scaffold of a project.
func ScaffoldNames(config *project.Config) migrate.Names {
	names := migrate.Names{Project: config.ProjectName(), Domain: config.Domain(), Repo: config.Repo()}
	for _, r := range config.Resources() {
		names.Resources = append(names.Resources, migrate.Resource{Group: r.Group, Version: r.Version, Kind: r.Kind, Plural: r.Plural})
	}
	return names
}

// FillNames sets an empty group or version if all resources of the kind that match the other one have the same.
func FillNames(config *project.Config, group, version *string, kind string) {
	var matches []project.Resource
	for _, r := range config.Resources() {
		if r.Kind == kind && (*group == "" || r.Group == *group) && (*version == "" || r.Version == *version) {
			matches = append(matches, r)
		}
	}
	for _, f := range []struct {
		value *string
		of    func(project.Resource) string
	}{
		{group, func(r project.Resource) string { return r.Group }},
		{version, func(r project.Resource) string { return r.Version }},
	} {
		differs := func(r project.Resource) bool { return f.of(r) != f.of(matches[0]) }
		if *f.value == "" && len(matches) > 0 && !slices.ContainsFunc(matches, differs) {
			*f.value = f.of(matches[0])
		}
	}
}

// requireNames returns findings for an empty version and an empty kind.
func requireNames(config *project.Config, version, kind string) diag.Findings {
	var findings diag.Findings
	if version == "" {
		problem := "is required"
		var versions []string
		for _, r := range config.Resources() {
			if r.Kind == kind {
				versions = append(versions, r.Version)
			}
		}
		if len(versions) > 0 {
			problem += "; the project has " + kind + " in " + strings.Join(uniqueSorted(versions), ", ")
		}
		findings.Add("--version", "", problem)
	}
	if kind == "" {
		findings.Add("--kind", "", "is required")
	}
	return findings
}

// FindResource returns the resource of PROJECT with the given names. The group and the version may be empty if the kind has
// only one.
func FindResource(config *project.Config, group, version, kind string) (project.Resource, error) {
	FillNames(config, &group, &version, kind)
	if findings := requireNames(config, version, kind); len(findings) > 0 {
		return project.Resource{}, findings
	}
	for _, r := range config.Resources() {
		if r.Group == group && r.Version == version && r.Kind == kind {
			return r, nil
		}
	}
	return project.Resource{}, MissingAPI(config, project.GVK{Group: group, Domain: config.Domain(), Version: version, Kind: kind})
}

// MissingAPI returns the findings for an API that the project does not have. Empty names match all. An API that differs only
// in case or in the domain of its group is suggested.
func MissingAPI(config *project.Config, wanted project.GVK) diag.Findings {
	var names []string
	for _, r := range config.Resources() {
		names = append(names, r.GVK.String())
	}
	problem := "the project has no such API"
	if wanted.Kind != "" && wanted.Version != "" {
		problem = fmt.Sprintf("the project has no API %s", wanted)
	}
	if len(names) > 0 {
		problem += "; it has " + strings.Join(names, ", ")
	}
	matches := func(given, actual string) bool { return given == "" || strings.EqualFold(given, actual) }
	for _, r := range config.Resources() {
		group := strings.TrimSuffix(wanted.Group, "."+config.Domain())
		if !matches(group, r.Group) || !matches(wanted.Version, r.Version) || !matches(wanted.Kind, r.Kind) {
			continue
		}
		var findings diag.Findings
		for _, f := range []struct{ flag, given, actual string }{
			{"--group", wanted.Group, r.Group}, {"--version", wanted.Version, r.Version}, {"--kind", wanted.Kind, r.Kind},
		} {
			if f.given != "" && f.given != f.actual {
				findings = append(findings, diag.Finding{Field: f.flag, Value: f.given, Problem: problem, Suggestion: f.actual})
				problem = "differs, too"
			}
		}
		if len(findings) > 0 {
			return findings
		}
	}
	for _, f := range []diag.Finding{{Field: "--kind", Value: wanted.Kind}, {Field: "--group", Value: wanted.Group}, {Field: "--version", Value: wanted.Version}} {
		if f.Value != "" {
			f.Problem = problem
			return diag.Findings{f}
		}
	}
	return diag.Findings{{Field: "--kind", Problem: problem}}
}

// HubOf returns the version that another one converts to and from.
func HubOf(config *project.Config, spoke project.Resource) (project.Resource, bool) {
	for _, r := range config.Resources() {
		if r.Webhooks != nil && r.Group == spoke.Group && r.Domain == spoke.Domain && r.Kind == spoke.Kind && slices.Contains(r.Webhooks.Spoke, spoke.Version) {
			return r, true
		}
	}
	return project.Resource{}, false
}

func uniqueSorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
