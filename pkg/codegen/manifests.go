package codegen

import (
	"bytes"
	"go/parser"
	"go/token"
	"io"
	"path"

	"go/ast"

	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/controller-tools/pkg/webhook"
)

// artifacts collects the files that generators write: configuration below a folder, code beside its package.
type artifacts struct {
	files map[string][]byte
	// config is the folder of configuration, and code finds that of a package; both slash-separated.
	config string
	code   func(*loader.Package) string
}

// Open implements genall.OutputRule.
func (a *artifacts) Open(of *loader.Package, name string) (io.WriteCloser, error) {
	if of == nil {
		return &artifact{name: path.Join(a.config, name), files: a.files}, nil
	}
	return &artifact{name: path.Join(a.code(of), name), files: a.files}, nil
}

// artifact is a file that is there once it is closed.
type artifact struct {
	bytes.Buffer
	name  string
	files map[string][]byte
}

// Close implements io.Closer.
func (a *artifact) Close() error {
	a.files[a.name] = a.Bytes()
	return nil
}

// manifests generates roles and webhook configurations, which are made of markers alone.
func (s *syntax) manifests(tasks []*task, into map[string][]byte) error {
	var findings Findings
	for _, t := range tasks {
		if t.kind != RBAC && t.kind != Webhook {
			continue
		}
		var roots []*loader.Package
		for _, one := range s.rootsOf(t) {
			roots = append(roots, one.view)
		}
		err := t.generator.Generate(&genall.GenerationContext{
			Collector:  s.collector,
			Roots:      roots,
			OutputRule: &artifacts{files: into, config: t.config},
			InputRule:  oneFile(t.header),
		})
		if err != nil && t.kind == RBAC {
			findings = append(findings, Finding{Message: "generating roles: " + err.Error()})
		} else if err != nil {
			findings = append(findings, s.webhookFindings(err)...)
		}
	}
	return findings.err()
}

// webhookFindings tells which markers the generator of webhook configurations refuses, since its error does not.
func (s *syntax) webhookFindings(err error) Findings {
	var findings Findings
	for _, one := range s.packages {
		s.comments(one, func(at token.Pos, text string) {
			def := s.collector.Lookup(text, markers.DescribesPackage)
			if def == nil || def.Name != webhook.ConfigDefinition.Name && def.Name != webhook.WebhookConfigDefinition.Name {
				return
			}
			tree, perr := parser.ParseFile(token.NewFileSet(), "", "package one\n\n// "+text+"\n", parser.ParseComments)
			if perr != nil {
				return
			}
			alone := &loader.Package{Package: &packages.Package{Syntax: []*ast.File{tree}}}
			if werr := (webhook.Generator{}).Generate(&genall.GenerationContext{
				Collector:  &markers.Collector{Registry: s.collector.Registry},
				Roots:      []*loader.Package{alone},
				OutputRule: &artifacts{files: map[string][]byte{}},
			}); werr != nil {
				findings = append(findings, s.at(at, "marker +"+def.Name+": "+werr.Error()))
			}
		})
	}
	if len(findings) == 0 {
		// The markers contradict each other rather than the rules.
		findings = Findings{{Message: "generating webhook configurations: " + err.Error()}}
	}
	return findings
}
