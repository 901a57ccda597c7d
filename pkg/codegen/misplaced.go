package codegen

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A probe replaces a marker to find out whether the collector of markers finds it.
type probe struct {
	comment *ast.Comment
	group   *ast.CommentGroup
	tree    *ast.File
	// original is the text of the comment, and text the marker in it, from its plus sign.
	original, text string
	// name is the name in the definition of the marker, and targets are what it can describe.
	name    string
	targets []markers.TargetType
}

// misplacedMarkers returns the markers of kubebuilder that have no effect because of their place, such as those for packages in the comment
// of a function. What a place means depends on the comments and declarations around it, and on what the marker can describe. So that the
// answer is the generators', their collector finds the markers, each with a name of its own. It also returns the content of files in
// which those for packages have moved to where they have an effect.
func (s *syntax) misplacedMarkers(known *markers.Registry) (findings diag.Findings, fixed map[string][]byte, err error) {
	fixed = map[string][]byte{}
	for _, pkg := range s.packages {
		probes := probesIn(known, pkg.trees)
		if len(probes) == 0 {
			continue
		}
		registry := &markers.Registry{}
		for i, p := range probes {
			for _, target := range p.targets {
				if err := registry.Define(probeName(i), target, struct{}{}); err != nil {
					return nil, nil, err
				}
			}
			p.comment.Text = "// +" + probeName(i)
		}
		found, err := (&markers.Collector{Registry: registry}).MarkersInPackage(pkg.view)
		seen := map[string]bool{}
		for _, values := range found {
			for name := range values {
				seen[name] = true
			}
		}
		misplaced := map[*ast.File][]*probe{}
		for i, p := range probes {
			p.comment.Text = p.original
			if !seen[probeName(i)] && p.matters(pkg) {
				findings = append(findings, s.ruled("misplaced-marker", p.pos(), p.problem()))
				misplaced[p.tree] = append(misplaced[p.tree], p)
			}
		}
		if err != nil {
			return nil, nil, err
		}
		for i, tree := range pkg.trees {
			if content, changed := s.moveMarkers(pkg.files[i].content, misplaced[tree]); changed {
				fixed[pkg.files[i].name] = content
			}
		}
	}
	return findings, fixed, nil
}

func probeName(i int) string { return fmt.Sprintf("operonprobe%d", i) }

// probesIn returns the markers of files that a registry defines.
func probesIn(known *markers.Registry, trees []*ast.File) []*probe {
	var probes []*probe
	for _, tree := range trees {
		for _, group := range tree.Comments {
			for _, comment := range group.List {
				for _, text := range markersOf(&ast.CommentGroup{List: []*ast.Comment{comment}}) {
					p := &probe{comment: comment, group: group, tree: tree, original: comment.Text, text: text}
					for _, target := range markerTargets() {
						if definition := known.Lookup(text, target); definition != nil && !isReadByOtherTools(definition.Name) {
							p.name, p.targets = definition.Name, append(p.targets, target)
						}
					}
					if p.targets != nil { // unknown markers have a finding of their own
						probes = append(probes, p)
					}
				}
			}
		}
	}
	return probes
}

// isForPackages reports whether the marker describes nothing but packages. One that can also describe fields means one of them.
func (p *probe) isForPackages() bool {
	return slices.Equal(p.targets, []markers.TargetType{markers.DescribesPackage})
}

// matters reports whether the author of a marker without effect probably expects one. Markers that Kubernetes' own generators read too stand
// in many comments; the others are only for kubebuilder markers.
func (p *probe) matters(pkg *parsedPackage) bool {
	if strings.HasPrefix(p.name, "kubebuilder:") || slices.Contains(p.targets, markers.DescribesPackage) {
		return true
	}
	place, _ := p.place()
	return (pkg.group != "" || pkg.copies) && strings.HasPrefix(place, behindField)
}

// behindField begins the place of a comment in the line of a field.
const behindField = "the comment behind the field "

// pos returns the position of the plus sign.
func (p *probe) pos() token.Pos {
	return p.comment.Pos() + token.Pos(strings.IndexByte(p.original, '+'))
}

// problem describes why the marker has no effect, and what to do.
func (p *probe) problem() string {
	var kinds []string
	for _, target := range p.targets {
		kinds = append(kinds, map[markers.TargetType]string{
			markers.DescribesPackage: "packages", markers.DescribesType: "types", markers.DescribesField: "fields",
		}[target])
	}
	place, inBody := p.place()
	fix := "write it directly above what it describes"
	switch forPackage := p.isForPackages(); {
	case inBody:
		fix = "move it out of the function"
	case forPackage && place != "":
		fix = "put an empty line between it and the comment, or move it above that comment with an empty line below"
	case forPackage:
		fix = "move it above a declaration"
	}
	if place != "" {
		place = " in " + place
	}
	return fmt.Sprintf("marker +%s has no effect%s: it describes %s; %s", p.name, place, strings.Join(kinds, " or "), fix)
}

// place returns what the comment belongs to, or "", and whether that is the body of a function.
func (p *probe) place() (what string, inBody bool) {
	for _, declaration := range p.tree.Decls {
		if declared, ok := declaration.(*ast.FuncDecl); ok {
			switch {
			case declared.Doc == p.group:
				return "the comment of the function " + declared.Name.Name, false
			case declared.Pos() <= p.comment.Pos() && p.comment.Pos() < declared.End():
				return "the function " + declared.Name.Name, true
			}
		}
	}
	for node := range ast.Preorder(p.tree) {
		switch node := node.(type) {
		case *ast.GenDecl:
			if node.Doc == p.group {
				if spec, ok := node.Specs[0].(*ast.TypeSpec); ok && !node.Lparen.IsValid() {
					return "the comment of the type " + spec.Name.Name, false
				}
				return "the comment of a declaration", false
			}
		case *ast.TypeSpec:
			if node.Doc == p.group {
				return "the comment of the type " + node.Name.Name, false
			}
		case *ast.Field:
			name := typeName(node.Type)
			if len(node.Names) > 0 {
				name = node.Names[0].Name
			}
			switch p.group {
			case node.Doc:
				return "the comment of the field " + name, false
			case node.Comment:
				return behindField + name, false
			}
		}
	}
	return "", false
}
