package cmd

import (
	"fmt"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
)

// missingAPI reports that the project has no API of these names, of which empty ones stand for any. If one differs in case or in
// the domain of its group only, it is suggested.
func missingAPI(config *project.Config, wanted project.GVK) project.Findings {
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
	same := func(given, has string) bool { return given == "" || strings.EqualFold(given, has) }
	for _, r := range config.Resources() {
		group := strings.TrimSuffix(wanted.Group, "."+config.Domain())
		if !same(group, r.Group) || !same(wanted.Version, r.Version) || !same(wanted.Kind, r.Kind) {
			continue
		}
		var findings project.Findings
		for _, f := range []struct{ flag, given, has string }{
			{"--group", wanted.Group, r.Group}, {"--version", wanted.Version, r.Version}, {"--kind", wanted.Kind, r.Kind},
		} {
			if f.given != "" && f.given != f.has {
				findings = append(findings, project.Finding{Field: f.flag, Value: f.given, Problem: problem, Suggestion: f.has})
				problem = "differs, too"
			}
		}
		if len(findings) > 0 {
			return findings
		}
	}
	for _, f := range []project.Finding{{Field: "--kind", Value: wanted.Kind}, {Field: "--group", Value: wanted.Group}, {Field: "--version", Value: wanted.Version}} {
		if f.Value != "" {
			f.Problem = problem
			return project.Findings{f}
		}
	}
	return project.Findings{{Field: "--kind", Problem: problem}}
}
