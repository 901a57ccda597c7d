package codegen

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/rbac"
	"sigs.k8s.io/controller-tools/pkg/webhook"

	"github.com/operon-sdk/operon/pkg/diag"
)

// staleManifests returns the manifests that are not generated because no marker for them has an effect, though there are some. They stay as
// they were generated last.
func (g *generation) staleManifests(all generated) diag.Findings {
	var findings diag.Findings
	for _, t := range g.all {
		marker, name := "", ""
		switch generator := t.generator.(type) {
		case rbac.Generator:
			marker, name = rbac.RuleDefinition.Name, cmp.Or(generator.FileName, "role.yaml")
		case webhook.Generator:
			marker, name = webhook.ConfigDefinition.Name, "manifests.yaml"
		default:
			continue
		}
		marker, name = "marker +"+marker+" has", path.Join(t.config, name)
		if all.Files[name] != nil || !slices.ContainsFunc(all.Warnings, func(f diag.Finding) bool { return strings.HasPrefix(f.Problem, marker+" no effect") }) {
			continue
		}
		if _, err := g.project.read(name); err == nil {
			findings = append(findings, diag.Finding{
				Position: diag.Position{File: name, Line: 1}, Rule: "stale-manifest", Problem: "not generated, and unchanged: no " + marker + " an effect",
			})
		}
	}
	return findings
}
