package codegen

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// withoutGenerator returns a finding for each selected generator that no call runs, although markers are written for it.
func (g *generation) withoutGenerator() diag.Findings {
	tasks, _ := tasksOf(g.opts.Calls)
	missing := g.opts.Generators &^ g.opts.Unfollowed
	for _, t := range tasks {
		missing &^= t.kind
	}
	var findings diag.Findings
	for _, generator := range []struct {
		kind    Generators
		name    string
		target  string
		markers []string
	}{
		{RBAC, "rbac", "manifests", []string{"+kubebuilder:rbac:"}},
		{Webhook, "webhook", "manifests", []string{"+kubebuilder:webhook:"}},
		{CRD, "crd", "manifests", []string{"+kubebuilder:resource:", "+kubebuilder:subresource:", "+kubebuilder:printcolumn:", "+kubebuilder:storageversion"}},
		{Object, "object", "generate", []string{"+kubebuilder:object:root=true"}},
		{ApplyConfiguration, "applyconfiguration", "generate", []string{"+kubebuilder:ac:generate=true"}},
	} {
		if missing&generator.kind == 0 {
			continue
		}
		var first token.Position
		var name string
		count := 0
		for _, pkg := range g.project.packages {
			for at, found := range g.asking(pkg, generator.kind, generator.markers) {
				if count++; count == 1 {
					first, name = at, found
				}
			}
		}
		problem := fmt.Sprintf("marker %s has no effect", name)
		switch isType := generator.kind == Object; {
		case count == 0:
			continue
		case isType && count == 1:
			problem = fmt.Sprintf("type %s has no method DeepCopyObject", name)
		case isType:
			problem = fmt.Sprintf("type %s and %s have no method DeepCopyObject", name, diag.Count(count-1, "other type"))
		case count > 1:
			problem = fmt.Sprintf("%d markers %s have no effect", count, name)
		}
		finding := findingAt(first, problem+": no call of controller-gen runs the generator "+generator.name)
		finding.Rule = "no-generator"
		finding.Fix = fmt.Sprintf("call it in the target %s of the Makefile, or in generate.calls of .operon/config.yaml", generator.target)
		findings = append(findings, finding)
	}
	return findings
}

// asking yields the names of the markers of a package for a generator, or for Object, of its kinds without the method DeepCopyObject, which
// other programs than controller-gen generate, too.
func (g *generation) asking(pkg *sourcePackage, kind Generators, markers []string) func(yield func(token.Position, string) bool) {
	return func(yield func(token.Position, string) bool) {
		for _, file := range pkg.files {
			if !slices.ContainsFunc(markers, func(marker string) bool { return bytes.Contains(file.content, []byte(marker)) }) {
				continue
			}
			fset := token.NewFileSet()
			tree, err := parser.ParseFile(fset, file.name, file.content, parseMode)
			if err != nil {
				continue // reported when the package is parsed
			}
			if kind == Object {
				for _, spec := range typeSpecs(tree) {
					if isObject(spec) && !g.hasDeepCopy(pkg, spec.Name.Name) && !yield(fset.PositionFor(spec.Name.Pos(), false), spec.Name.Name) {
						return
					}
				}
				continue
			}
			for pos, text := range markersIn(tree) {
				if slices.ContainsFunc(markers, func(marker string) bool { return strings.HasPrefix(text, marker) }) &&
					!yield(fset.PositionFor(pos, false), markerName(text)) {
					return
				}
			}
		}
	}
}

// markerName returns the first two parts of the name of a marker, from the plus sign.
func markerName(text string) string {
	name, _, _ := strings.Cut(text, "=")
	return strings.Join(strings.SplitN(name, ":", 3)[:2], ":")
}

// isObject reports whether a type is a kind or the list of one.
func isObject(spec *ast.TypeSpec) bool {
	structure, ok := spec.Type.(*ast.StructType)
	return ok && embeds(structure, "TypeMeta") && (embeds(structure, "ObjectMeta") || embeds(structure, "ListMeta"))
}

// DeepCopyObject returns an expression that matches the declaration of the method DeepCopyObject of a type in Go code.
func DeepCopyObject(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^func \(\w*\s*\*?` + regexp.QuoteMeta(name) + `\) DeepCopyObject\(`)
}

// hasDeepCopy reports whether any file in the directory of a package, also one of generated methods, has the method DeepCopyObject of a type.
func (g *generation) hasDeepCopy(pkg *sourcePackage, name string) bool {
	names, err := g.project.list(pkg.dir)
	method := DeepCopyObject(name)
	return err == nil && slices.ContainsFunc(names, func(file string) bool {
		data, err := g.project.read(path.Join(pkg.dir, file))
		return path.Ext(file) == ".go" && err == nil && method.Match(data)
	})
}
