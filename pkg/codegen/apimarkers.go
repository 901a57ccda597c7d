package codegen

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/markers"
)

// KindMarker is a marker +operator-sdk:csv:customresourcedefinitions on a type.
type KindMarker struct {
	DisplayName string
	Order       *int
	Resources   [][]string
	Place       Finding
}

// FieldMarker is a marker +operator-sdk:csv:customresourcedefinitions on a field.
type FieldMarker struct {
	Type, DisplayName, Path string
	XDescriptors            []string
	Order                   *int
}

// csvMarker is the name of both markers.
const csvMarker = "operator-sdk:csv:customresourcedefinitions"

// kindArguments and fieldArguments are the arguments of the markers, for the parser.
type kindArguments struct {
	Resources   [][]string `marker:",optional"`
	DisplayName string     `marker:",optional"`
	Order       *int       `marker:",optional"`
}

type fieldArguments struct {
	Type         string   `marker:",optional"`
	DisplayName  string   `marker:",optional"`
	XDescriptors []string `marker:",optional"`
	Order        *int     `marker:",optional"`
	Path         string   `marker:",optional"`
}

// csvRegistry holds the markers that tell of the CSV, and those of CRDs.
func csvRegistry() (*markers.Registry, error) {
	registry, err := CRD.registry()
	if err != nil {
		return nil, err
	}
	for _, one := range []struct {
		target markers.TargetType
		value  any
	}{{markers.DescribesType, kindArguments{}}, {markers.DescribesField, fieldArguments{}}} {
		def, err := markers.MakeDefinition(csvMarker, one.target, one.value)
		if err == nil {
			err = registry.Register(def)
		}
		if err != nil {
			return nil, fmt.Errorf("registering markers: %w", err)
		}
	}
	return registry, nil
}

// checkKindMarkers finds resources that do not name a kind and a version.
func (r *apiReader) checkKindMarkers(t *apiType) Findings {
	var findings Findings
	for _, m := range r.kindMarkers(t) {
		for _, resource := range m.Resources {
			switch {
			case len(resource) < 2:
				findings = append(findings, m.Place.saying(fmt.Sprintf("marker +%s: the resource {%s} lacks a version: write {Kind,version} or {Kind,version,name}", csvMarker, strings.Join(resource, ","))))
			case len(resource) > 3:
				r.warnings = append(r.warnings, m.Place.saying(fmt.Sprintf("marker +%s: the resource {%s} has more than a kind, a version and a name: the name is left out", csvMarker, strings.Join(resource, ","))))
			}
		}
	}
	return findings
}

// saying is a finding at the same place.
func (f Finding) saying(message string) Finding {
	f.Message = message
	return f
}

// checkField finds tags that cannot be read and markers that name neither spec nor status.
func (r *apiReader) checkField(one *parsed, field *ast.Field) Findings {
	var findings Findings
	if field.Tag != nil {
		if problem := tagProblem(field.Tag.Value); problem != "" {
			findings = append(findings, r.at(field.Tag.Pos(), "struct tag "+field.Tag.Value+": "+problem))
		}
	}
	values, err := r.collector.MarkersInPackage(one.view)
	if err != nil {
		return findings
	}
	places := csvComments(field.Doc)
	for i, value := range values[field][csvMarker] {
		m, ok := value.(fieldArguments)
		if !ok || m.Type == "spec" || m.Type == "status" {
			continue
		}
		at := field.Pos()
		if i < len(places) {
			at = places[i]
		}
		problem := "type is missing"
		if m.Type != "" {
			problem = fmt.Sprintf("type %q is unknown", m.Type)
		}
		r.warnings = append(r.warnings, r.at(at, "marker +"+csvMarker+": "+problem+", so it has no effect: write type=spec or type=status"))
	}
	return findings
}

// kindMarkers are the markers of a type with their places.
func (r *apiReader) kindMarkers(t *apiType) []KindMarker {
	var list []KindMarker
	var places []token.Pos
	if t.info.RawDecl != nil && t.info.RawDecl.Doc != t.info.RawSpec.Doc {
		places = csvComments(t.info.RawDecl.Doc)
	}
	places = append(places, csvComments(t.info.RawSpec.Doc)...)
	for i, value := range t.info.Markers[csvMarker] {
		m, ok := value.(kindArguments)
		if !ok {
			continue
		}
		at := t.info.RawSpec.Pos()
		if len(places) == len(t.info.Markers[csvMarker]) {
			at = places[i]
		}
		list = append(list, KindMarker{DisplayName: m.DisplayName, Order: m.Order, Resources: m.Resources, Place: r.at(at, "")})
	}
	return list
}

// csvComments are the places of the markers of the CSV in a comment.
func csvComments(doc *ast.CommentGroup) []token.Pos {
	var places []token.Pos
	if doc == nil {
		return nil
	}
	for _, comment := range doc.List {
		if text, ok := strings.CutPrefix(comment.Text, "//"); ok && strings.HasPrefix(strings.TrimSpace(text), "+"+csvMarker) {
			places = append(places, comment.Pos()+token.Pos(strings.IndexByte(comment.Text, '+')))
		}
	}
	return places
}

// unknownMarkers finds what looks like a marker of the CSV and is none.
func (r *apiReader) unknownMarkers() Findings {
	var findings Findings
	for _, one := range r.packages {
		for _, tree := range one.trees {
			for _, group := range tree.Comments {
				for _, comment := range group.List {
					body, ok := strings.CutPrefix(comment.Text, "//")
					text := strings.TrimSpace(body)
					if !ok || !strings.HasPrefix(text, "+operator-sdk:") || r.collector.Lookup(text, markers.DescribesField) != nil {
						continue
					}
					name, _, _ := strings.Cut(text, "=")
					findings = append(findings, r.at(comment.Pos()+token.Pos(strings.IndexByte(comment.Text, '+')),
						fmt.Sprintf("unknown marker %s: nothing reads it; did you mean +%s?", name, csvMarker)))
				}
			}
		}
	}
	return findings
}

// bareColons finds texts with a colon that are not in quotes. The parser of today takes them, operator-sdk's does not.
func (r *apiReader) bareColons(one *parsed) Findings {
	var findings Findings
	for _, tree := range one.trees {
		for _, group := range tree.Comments {
			for _, comment := range group.List {
				prefix, arguments, ok := strings.Cut(comment.Text, "+"+csvMarker+":")
				if !ok || strings.TrimSpace(prefix) != "//" {
					continue
				}
				if i := bareColon(arguments); i >= 0 {
					findings = append(findings, r.at(comment.End()-token.Pos(len(arguments)-i),
						"marker +"+csvMarker+": a text with a colon needs quotes around it"))
				}
			}
		}
	}
	return findings
}

// bareColon is the index of the first colon outside of quotes, -1 where there is none.
func bareColon(arguments string) int {
	var quote rune
	escaped := false
	for i, c := range arguments {
		switch {
		case escaped:
			escaped = false
		case quote == '"' && c == '\\':
			escaped = true
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '`':
			quote = c
		case c == ':':
			return i
		}
	}
	return -1
}
