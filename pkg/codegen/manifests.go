package codegen

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"

	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/controller-tools/pkg/webhook"

	"github.com/operon-sdk/operon/pkg/diag"
)

// manifests generates roles and webhook configurations, which depend only on markers.
func (s *syntax) manifests(tasks []*task, into map[string][]byte) error {
	var findings diag.Findings
	for _, t := range tasks {
		if t.kind != RBAC && t.kind != Webhook {
			continue
		}
		var roots []*loader.Package
		for _, pkg := range s.rootsOf(t) {
			roots = append(roots, pkg.view)
		}
		err := t.generator.Generate(&genall.GenerationContext{
			Collector:  s.collector,
			Roots:      roots,
			OutputRule: &artifacts{files: into, config: t.config},
			InputRule:  headerInput(t.header),
		})
		if err != nil && t.kind == RBAC {
			findings = append(findings, diag.Finding{Problem: "generating roles: " + err.Error()})
		} else if err != nil {
			findings = append(findings, s.webhookFindings(err)...)
		}
	}
	return findings.Sort().Err()
}

// webhookFindings returns the markers that the generator of webhook configurations rejects, which its error does not
// identify.
func (s *syntax) webhookFindings(err error) diag.Findings {
	var findings diag.Findings
	for _, pkg := range s.packages {
		for pos, text := range markersIn(pkg.trees...) {
			def := s.collector.Lookup(text, markers.DescribesPackage)
			if !strings.HasPrefix(text, "+kubebuilder:") || def == nil ||
				def.Name != webhook.ConfigDefinition.Name && def.Name != webhook.WebhookConfigDefinition.Name {
				continue
			}
			tree, parseError := parser.ParseFile(token.NewFileSet(), "", "package x\n\n// "+text+"\n", parser.ParseComments)
			if parseError != nil {
				continue
			}
			single := &loader.Package{Package: &packages.Package{Syntax: []*ast.File{tree}}}
			if err := (webhook.Generator{}).Generate(&genall.GenerationContext{
				Collector:  &markers.Collector{Registry: s.collector.Registry},
				Roots:      []*loader.Package{single},
				OutputRule: &artifacts{files: map[string][]byte{}},
			}); err != nil {
				findings = append(findings, s.at(pos, "marker +"+def.Name+": "+err.Error()))
			}
		}
	}
	if len(findings) == 0 {
		// Each marker is valid, but they contradict each other.
		findings = diag.Findings{{Problem: "generating webhook configurations: " + err.Error()}}
	}
	return findings
}
