package codegen

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/rbac"

	"github.com/operon-sdk/operon/pkg/diag"
)

// staleRoles returns the files of roles that are not generated, because no marker for them has an effect. They keep rules that the code may no
// longer ask for.
func (g *generation) staleRoles(all generated) diag.Findings {
	without := func(f diag.Finding) bool {
		return strings.HasPrefix(f.Problem, "marker +"+rbac.RuleDefinition.Name+" has no effect")
	}
	if !slices.ContainsFunc(all.Warnings, without) {
		return nil
	}
	var findings diag.Findings
	for _, t := range g.all {
		generator, ok := t.generator.(rbac.Generator)
		if !ok {
			continue
		}
		name := path.Join(t.config, cmp.Or(generator.FileName, "role.yaml"))
		if _, err := g.project.read(name); err != nil || all.Files[name] != nil {
			continue
		}
		findings = append(findings, diag.Finding{
			Position: diag.Position{File: name, Line: 1}, Rule: "stale-role",
			Problem: "not generated, and unchanged: no marker +" + rbac.RuleDefinition.Name + " has an effect",
		})
	}
	return findings
}
