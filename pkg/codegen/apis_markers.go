package codegen

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A KindMarker is a marker +operator-sdk:csv:customresourcedefinitions on a type.
type KindMarker struct {
	DisplayName string
	Order       *int
	Resources   [][]string
	Position    diag.Position
}

// A FieldMarker is a marker +operator-sdk:csv:customresourcedefinitions on a field.
type FieldMarker struct {
	Type         string   `marker:",optional"`
	DisplayName  string   `marker:",optional"`
	XDescriptors []string `marker:",optional"`
	Order        *int     `marker:",optional"`
	Path         string   `marker:",optional"`
}

// csvMarker is the name of both markers.
const csvMarker = "operator-sdk:csv:customresourcedefinitions"

// oldCSVMarker begins both markers in operator-sdk before 1.0.
const oldCSVMarker = "+operator-sdk:gen-csv:customresourcedefinitions"

// kindArguments are the arguments of a KindMarker, for the parser.
type kindArguments struct {
	Resources   [][]string `marker:",optional"`
	DisplayName string     `marker:",optional"`
	Order       *int       `marker:",optional"`
}

func csvRegistry() (*markers.Registry, error) {
	registry, err := CRD.registry()
	if err != nil {
		return nil, err
	}
	if err := register(registry, csvMarker, markers.DescribesType, kindArguments{}); err != nil {
		return nil, err
	}
	return registry, register(registry, csvMarker, markers.DescribesField, FieldMarker{})
}

// checkKindMarkers returns resources without a kind or version.
func (r *apiReader) checkKindMarkers(t *apiType) diag.Findings {
	var findings diag.Findings
	for _, m := range r.kindMarkers(t) {
		for _, resource := range m.Resources {
			prefix := "marker +" + csvMarker + ": resource {" + strings.Join(resource, ",") + "}"
			switch {
			case len(resource) < 2:
				findings.Addf(m.Position, "%s has no version; write {Kind,version} or {Kind,version,name}", prefix)
			case len(resource) > 3:
				r.warnings.Addf(m.Position, "%s has more values than {Kind,version,name}; the name is left out", prefix)
			}
		}
	}
	return findings
}

// checkField returns invalid tags, and adds warnings for markers without spec or status.
func (r *apiReader) checkField(pkg *parsedPackage, field *ast.Field) diag.Findings {
	var findings diag.Findings
	if field.Tag != nil {
		if problem := tagProblem(field.Tag.Value); problem != "" {
			findings = append(findings, r.at(field.Tag.Pos(), "struct tag "+field.Tag.Value+": "+problem))
		}
	}
	values, err := r.collector.MarkersInPackage(pkg.view)
	if err != nil {
		return findings
	}
	positions := csvMarkerPositions(field.Doc)
	for i, value := range values[field][csvMarker] {
		m, ok := value.(FieldMarker)
		if !ok || m.Type == "spec" || m.Type == "status" {
			continue
		}
		at := field.Pos()
		if i < len(positions) {
			at = positions[i]
		}
		problem := "type is missing"
		if m.Type != "" {
			problem = fmt.Sprintf("type %q is unknown", m.Type)
		}
		problem = "marker +" + csvMarker + " has no effect: " + problem + "; write type=spec or type=status"
		r.warnings = append(r.warnings, r.at(at, problem))
	}
	return findings
}

// kindMarkers returns the markers of a type with their positions.
func (r *apiReader) kindMarkers(t *apiType) []KindMarker {
	var list []KindMarker
	var positions []token.Pos
	if t.info.RawDecl != nil && t.info.RawDecl.Doc != t.info.RawSpec.Doc {
		positions = csvMarkerPositions(t.info.RawDecl.Doc)
	}
	positions = append(positions, csvMarkerPositions(t.info.RawSpec.Doc)...)
	for i, value := range t.info.Markers[csvMarker] {
		m, ok := value.(kindArguments)
		if !ok {
			continue
		}
		at := t.info.RawSpec.Pos()
		if len(positions) == len(t.info.Markers[csvMarker]) {
			at = positions[i]
		}
		position := r.at(at, "").Position
		list = append(list, KindMarker{DisplayName: m.DisplayName, Order: m.Order, Resources: m.Resources, Position: position})
	}
	return list
}

func csvMarkerPositions(doc *ast.CommentGroup) []token.Pos {
	var list []token.Pos
	for pos, text := range markersOf(doc) {
		if strings.HasPrefix(text, "+"+csvMarker) {
			list = append(list, pos)
		}
	}
	return list
}

// unknownCSVMarkers returns invalid markers with the prefix of CSV markers.
func (r *apiReader) unknownCSVMarkers() diag.Findings {
	var findings diag.Findings
	for _, pkg := range r.packages {
		for pos, text := range markersIn(pkg.trees...) {
			if strings.HasPrefix(text, "+operator-sdk:") && r.collector.Lookup(text, markers.DescribesField) == nil {
				name, _, _ := strings.Cut(text, "=")
				problem := fmt.Sprintf("unknown marker %s: nothing reads it; did you mean +%s?", name, csvMarker)
				if strings.HasPrefix(text, oldCSVMarker) {
					problem = "marker " + oldCSVMarker + " has no effect: only operator-sdk before 1.0 read it; run 'operon upgrade', which converts it to +" + csvMarker
				}
				findings = append(findings, r.ruled("unknown-marker", pos, problem))
			}
		}
	}
	return findings
}

// unquotedColons returns CSV markers with values that contain a colon without quotes. The current parser accepts them, that
// of operator-sdk does not.
func (r *apiReader) unquotedColons(pkg *parsedPackage) diag.Findings {
	var findings diag.Findings
	for pos, text := range markersIn(pkg.trees...) {
		const prefix = "+" + csvMarker + ":"
		if arguments, ok := strings.CutPrefix(text, prefix); ok {
			if i := unquotedColon(arguments); i >= 0 {
				at := pos + token.Pos(len(prefix)+i)
				findings = append(findings, r.at(at, "marker +"+csvMarker+": a value with a colon must be quoted"))
			}
		}
	}
	return findings
}

// unquotedColon returns the index of the first colon outside of quotes, or -1.
func unquotedColon(arguments string) int {
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
