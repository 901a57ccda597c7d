package codegen

import (
	"cmp"
	"context"
	"errors"
	"go/ast"
	"io/fs"
	"os"
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
	// Env is the environment of the go command, which decides on build constraints.
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
		findings = append(findings, r.missingImports(p, one)...)
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
			if ast.IsExported(t.info.Name) && (t.structure != nil || len(r.fieldsOf(t, map[*apiType]bool{})) > 0) {
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

// missingImports finds imports of packages that the project should have and has not: what their types say would be
// missing without a word.
func (r *apiReader) missingImports(p *project, one *parsed) Findings {
	var findings Findings
	for _, tree := range one.trees {
		for _, spec := range tree.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err == nil && p.misses(target) {
				findings = append(findings, r.at(spec.Path.Pos(), "there is no package "+target+" in this project"))
			}
		}
	}
	return findings
}

// misses tells that an import path is one of the root module's, but of no folder and of no other module.
func (p *project) misses(target string) bool {
	rel, ok := strings.CutPrefix(target, p.modules[0].path+"/")
	if !ok || p.local(target) != nil {
		return false
	}
	gomod, err := p.read("go.mod")
	if err != nil {
		return false
	}
	for other := target; other != p.modules[0].path; other = path.Dir(other) {
		if strings.Contains(string(gomod), other+" v") {
			return false
		}
	}
	_, err = os.Stat(p.abs(rel))
	return errors.Is(err, fs.ErrNotExist)
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
	return append(findings, r.bareColons(one)...)
}

// api describes a type as a kind.
func (r *apiReader) api(group, version string, t *apiType) API {
	api := API{
		Group: group, Version: version, Kind: t.info.Name,
		Plural:  strings.ToLower(flect.Pluralize(t.info.Name)), // as in the CRD: abbreviations have plurals of their own
		Doc:     t.info.Doc,
		Place:   r.at(t.info.RawSpec.Pos(), ""),
		Markers: r.kindMarkers(t),
	}
	for _, value := range t.info.Markers["kubebuilder:resource"] {
		if m, ok := value.(crdmarkers.Resource); ok && m.Path != "" {
			api.Plural = m.Path
		}
	}
	for _, one := range r.fieldsOf(t, map[*apiType]bool{}) {
		switch jsonName(one.field) {
		case "spec":
			api.Spec = r.below(one.in, one.field)
		case "status":
			api.Status = r.below(one.in, one.field)
		}
	}
	return api
}

// declaredField is a field with the type that declares it.
type declaredField struct {
	in    *apiType
	field *ast.Field
}

// fieldsOf are the fields of a type, or of the one that it is defined by, behind those of the structs in it without
// a name in JSON, as its own win. No type is entered twice.
func (r *apiReader) fieldsOf(t *apiType, entered map[*apiType]bool) []declaredField {
	if entered[t] {
		return nil
	}
	entered[t] = true
	if t.structure == nil {
		if target := r.typeOf(t.in, t.info.RawSpec.Type); target != nil {
			return r.fieldsOf(target, entered)
		}
		return nil
	}
	var embedded, own []declaredField
	for _, field := range t.structure.Fields.List {
		if len(field.Names) > 0 || jsonName(field) != "" {
			own = append(own, declaredField{t, field})
			continue
		}
		expr := field.Type
		if star, ok := expr.(*ast.StarExpr); ok {
			expr = star.X
		}
		if target := r.typeOf(t.in, expr); target != nil {
			embedded = append(embedded, r.fieldsOf(target, entered)...)
		}
	}
	return append(embedded, own...)
}

// jsonName is the name that the tag of a field gives it in JSON, or nothing.
func jsonName(field *ast.Field) string {
	if field.Tag == nil {
		return ""
	}
	tag, _ := strconv.Unquote(field.Tag.Value)
	name, _, _ := strings.Cut(tagValue(tag, "json"), ",")
	return name
}
