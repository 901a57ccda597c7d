package codegen

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gobuffalo/flect"
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// APIOptions say which API types to read.
type APIOptions struct {
	// Root is the folder of the module's go.mod, absolute. Required.
	Root string
	// Overlay holds files that are not on disk yet, as in Options.
	Overlay map[string][]byte
	// Dir is the folder that the kinds live in or below, slash-separated and relative to Root. Required.
	Dir string
	// Env is the environment of the go command, which decides on build constraints: that of this process.
	Env []string
}

// API is a kind as its Go type declares it, or any struct that may be one.
type API struct {
	// Group is empty where the package has no marker +groupName.
	Group, Version, Kind string
	// Plural is the kind's name in URLs, as the CRD has it.
	Plural string
	// Doc is the type's comment without markers.
	Doc string
	// Place is where the type is declared; its Message is empty.
	Place Finding
	// Markers are those of the type that speak of the CSV, in the order of the source.
	Markers []KindMarker
	// Spec and Status are all fields that can be reached from the field of that name, nearest first. They
	// are nil where the kind has no such field.
	Spec, Status []APIField
}

// APIField is a field below spec or status.
type APIField struct {
	// Path leads to the field, by the names of its JSON, as in rooms[0].door.
	Path string
	// Name is the field's name in Go. An embedded field has that of its type.
	Name string
	// Doc is the field's comment without markers.
	Doc     string
	Markers []FieldMarker
}

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

// APIs reads the kinds in a folder and the fields below their spec and status. It reads the syntax of the
// API packages and of those packages of the project that they import, and nothing else: no types, no
// dependencies, no process.
//
// What is wrong with the source is returned as Findings, all at once; the findings beside the kinds are
// warnings. A folder that does not exist holds no kinds.
func APIs(ctx context.Context, opts APIOptions) ([]API, Findings, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	p, err := newProject(opts.Root, opts.Overlay, newEnvironment(opts.Env, true).buildContext())
	if err != nil {
		return nil, nil, err
	}
	registry, err := csvRegistry()
	if err != nil {
		return nil, nil, err
	}
	var roots []*pkg
	dir := path.Clean(opts.Dir)
	for _, one := range p.packages {
		if dir == "." || one.dir == dir || strings.HasPrefix(one.dir, dir+"/") {
			roots = append(roots, one)
		}
	}
	s, err := p.parseWithImports(registry, roots)
	if err != nil {
		return nil, nil, err
	}
	r := &apiReader{syntax: s, types: map[*parsed]map[string]*apiType{}, declared: map[*parsed][]*apiType{}, docs: map[*ast.Field]string{}, passed: map[*apiType]bool{}}
	var findings Findings
	for _, one := range s.packages {
		findings = append(findings, r.read(one)...)
	}
	var apis []API
	for _, one := range s.packages {
		if !slices.ContainsFunc(roots, func(root *pkg) bool { return root.path == one.path }) {
			continue
		}
		values, err := markers.PackageMarkers(s.collector, one.view)
		if err != nil || len(one.trees) == 0 || values.Get("kubebuilder:skip") != nil {
			continue
		}
		version, ok := values.Get("versionName").(string)
		if !ok {
			version = one.trees[0].Name.Name
		}
		for _, t := range r.declared[one] {
			if t.structure != nil && ast.IsExported(t.info.Name) {
				apis = append(apis, r.api(one.group, version, t))
			}
		}
	}
	slices.SortStableFunc(apis, func(a, b API) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Version, b.Version))
	})
	warnings := append(r.warnings, r.unknownMarkers()...)
	return apis, warnings.tidy(), findings.err()
}

// parseWithImports parses packages and, behind them, the packages of the project that they import.
func (p *project) parseWithImports(registry *markers.Registry, roots []*pkg) (*syntax, error) {
	all := slices.Clone(roots)
	for done := 0; ; {
		s, err := p.parsePackages(registry, all)
		if err != nil {
			return nil, err
		}
		before := len(all)
		for _, one := range s.packages[done:] {
			for _, target := range one.imports {
				if local := p.local(target); local != nil && !slices.Contains(all, local) {
					all = append(all, local)
				}
			}
		}
		if len(all) == before {
			return s, nil
		}
		done = before
	}
}

// apiReader finds its way through the type declarations of some packages.
type apiReader struct {
	*syntax
	types    map[*parsed]map[string]*apiType
	declared map[*parsed][]*apiType
	docs     map[*ast.Field]string
	passed   map[*apiType]bool
	warnings Findings
}

// apiType is a type declaration.
type apiType struct {
	in        *parsed
	info      *markers.TypeInfo
	structure *ast.StructType
}

// read notes the type declarations of a package.
func (r *apiReader) read(one *parsed) Findings {
	r.types[one] = map[string]*apiType{}
	var findings Findings
	err := markers.EachType(r.collector, one.view, func(info *markers.TypeInfo) {
		t := &apiType{in: one, info: info}
		t.structure, _ = info.RawSpec.Type.(*ast.StructType)
		r.types[one][info.Name] = t
		r.declared[one] = append(r.declared[one], t)
		findings = append(findings, r.checkKindMarkers(t)...)
		for _, field := range info.Fields {
			r.docs[field.RawField] = field.Doc
		}
		if t.structure != nil {
			ast.Inspect(t.structure, func(n ast.Node) bool {
				if field, ok := n.(*ast.Field); ok {
					findings = append(findings, r.checkField(one, field)...)
				}
				return true
			})
		}
	})
	if err != nil {
		findings = append(findings, r.markerFindings(one, err)...)
	}
	return findings
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

// api describes a type as a kind.
func (r *apiReader) api(group, version string, t *apiType) API {
	api := API{
		Group: group, Version: version, Kind: t.info.Name,
		Plural:  flect.Pluralize(strings.ToLower(t.info.Name)),
		Doc:     t.info.Doc,
		Place:   r.at(t.info.RawSpec.Pos(), ""),
		Markers: r.kindMarkers(t),
	}
	for _, value := range t.info.Markers["kubebuilder:resource"] {
		if m, ok := value.(crdmarkers.Resource); ok && m.Path != "" {
			api.Plural = m.Path
		}
	}
	for _, info := range t.info.Fields {
		if info.RawField.Tag == nil {
			continue
		}
		tag, _ := strconv.Unquote(info.RawField.Tag.Value)
		switch name, _, _ := strings.Cut(tagValue(tag, "json"), ","); name {
		case "spec":
			api.Spec = r.below(t, info.RawField)
		case "status":
			api.Status = r.below(t, info.RawField)
		}
	}
	return api
}
