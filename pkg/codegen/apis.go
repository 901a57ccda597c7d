package codegen

import (
	"cmp"
	"context"
	"errors"
	"go/ast"
	"io/fs"
	"os"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gobuffalo/flect"
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/goenv"
	"github.com/operon-sdk/operon/pkg/gosource"
)

// APIOptions are the options of APIs.
type APIOptions struct {
	// Root is the absolute path of the directory of the module's go.mod. Required.
	Root string
	// Overlay contains files that are not on disk yet, as in Options.
	Overlay map[string][]byte
	// Dir is the directory that contains the kinds, also in subdirectories, slash-separated and relative to Root. Required.
	Dir string
	// Env is the environment of the go command, which determines build constraints.
	Env []string
}

// An API is a kind as declared by its Go type, or any struct that may be one.
type API struct {
	// Group is empty if the package has no marker +groupName.
	Group, Version, Kind string
	// Plural is the name of the resource, as in the CRD.
	Plural string
	// Doc is the comment of the type without markers.
	Doc string
	// Position is the position of the declaration.
	Position diag.Position
	// Markers are the CSV markers of the type, in the order of the source.
	Markers []KindMarker
	// Spec and Status are the fields in the fields of these names, by depth. They are nil if the kind has no such field.
	Spec, Status []APIField
}

// An APIField is a field in spec or status.
type APIField struct {
	// Path is the path of the field in JSON, such as containers[0].image.
	Path string
	// Name is the name of the field in Go. That of an embedded field is the name of its type.
	Name string
	// Doc is the comment of the field without markers.
	Doc     string
	Markers []FieldMarker
}

// APIs reads the kinds in a directory, and the fields of their spec and status. It reads only the syntax of the API packages
// and of packages of the project that they import, and starts no process.
//
// Problems in the source are returned as Findings, all at once; the findings returned with the kinds are warnings. A
// directory that does not exist contains no kinds.
func APIs(ctx context.Context, opts APIOptions) ([]API, diag.Findings, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	env := goenv.New(opts.Env, true)
	env.Tags = Call{}.buildTags()
	p, err := newProject(opts.Root, opts.Overlay, env.BuildContext())
	if err != nil {
		return nil, nil, err
	}
	registry, err := csvRegistry()
	if err != nil {
		return nil, nil, err
	}
	var roots []*sourcePackage
	dir := path.Clean(opts.Dir)
	for _, pkg := range p.packages {
		if dir == "." || pkg.dir == dir || strings.HasPrefix(pkg.dir, dir+"/") {
			roots = append(roots, pkg)
		}
	}
	s, err := p.parseWithImports(registry, roots)
	if err != nil {
		return nil, nil, err
	}
	r := &apiReader{
		syntax: s, types: map[*parsedPackage]map[string]*apiType{}, declared: map[*parsedPackage][]*apiType{},
		docs: map[*ast.Field]string{}, warned: map[*apiType]bool{},
	}
	var findings diag.Findings
	for _, pkg := range s.packages {
		findings = append(findings, r.read(pkg)...)
		findings = append(findings, r.missingImports(p, pkg)...)
	}
	var apis []API
	for _, pkg := range s.packages {
		if !slices.ContainsFunc(roots, func(root *sourcePackage) bool { return root.path == pkg.path }) {
			continue
		}
		values, err := markers.PackageMarkers(s.collector, pkg.view)
		if err != nil || len(pkg.trees) == 0 || values.Get("kubebuilder:skip") != nil {
			continue
		}
		version, ok := values.Get("versionName").(string)
		if !ok {
			version = pkg.trees[0].Name.Name
		}
		for _, t := range r.declared[pkg] {
			if ast.IsExported(t.info.Name) && (t.structure != nil || len(r.fieldsOf(t, map[*apiType]bool{})) > 0) {
				apis = append(apis, r.api(pkg.group, version, t))
			}
		}
	}
	slices.SortStableFunc(apis, func(a, b API) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Version, b.Version))
	})
	warnings := append(r.warnings, r.unknownCSVMarkers()...)
	return apis, warnings.Sort(), findings.Sort().Err()
}

// parseWithImports parses packages, followed by the packages of the project that they import.
func (p *project) parseWithImports(registry *markers.Registry, roots []*sourcePackage) (*syntax, error) {
	all := slices.Clone(roots)
	for done := 0; ; {
		s, err := p.parsePackages(registry, all)
		if err != nil {
			return nil, err
		}
		before := len(all)
		for _, pkg := range s.packages[done:] {
			for _, target := range pkg.imports {
				if local := p.byPath[target]; local != nil && !slices.Contains(all, local) {
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

// missingImports returns imports of missing packages of the project, whose types would be left out without an error.
func (r *apiReader) missingImports(p *project, pkg *parsedPackage) diag.Findings {
	var findings diag.Findings
	for _, tree := range pkg.trees {
		for _, spec := range tree.Imports {
			if target := gosource.ImportPath(spec); p.isMissing(target) {
				findings = append(findings, r.at(spec.Path.Pos(), "package "+target+" not found in the project"))
			}
		}
	}
	return findings
}

// isMissing reports whether an import path belongs to the root module, but to no directory and to no other module.
func (p *project) isMissing(target string) bool {
	rel, ok := strings.CutPrefix(target, p.modules[0].path+"/")
	if !ok || p.byPath[target] != nil {
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

// An apiReader reads the type declarations of packages.
type apiReader struct {
	*syntax
	types    map[*parsedPackage]map[string]*apiType
	declared map[*parsedPackage][]*apiType
	docs     map[*ast.Field]string
	warned   map[*apiType]bool // see structs
	warnings diag.Findings
}

// An apiType is a type declaration.
type apiType struct {
	in        *parsedPackage
	info      *markers.TypeInfo
	structure *ast.StructType
}

// read reads the type declarations of a package.
func (r *apiReader) read(pkg *parsedPackage) diag.Findings {
	r.types[pkg] = map[string]*apiType{}
	var findings diag.Findings
	err := markers.EachType(r.collector, pkg.view, func(info *markers.TypeInfo) {
		t := &apiType{in: pkg, info: info}
		t.structure, _ = info.RawSpec.Type.(*ast.StructType)
		r.types[pkg][info.Name] = t
		r.declared[pkg] = append(r.declared[pkg], t)
		findings = append(findings, r.checkKindMarkers(t)...)
		for _, field := range info.Fields {
			r.docs[field.RawField] = field.Doc
		}
		if t.structure != nil {
			ast.Inspect(t.structure, func(n ast.Node) bool {
				if field, ok := n.(*ast.Field); ok {
					findings = append(findings, r.checkField(pkg, field)...)
				}
				return true
			})
		}
	})
	if err != nil {
		findings = append(findings, r.markerFindings(pkg, err)...)
	}
	return append(findings, r.unquotedColons(pkg)...)
}

// api returns the kind that a type declares.
func (r *apiReader) api(group, version string, t *apiType) API {
	api := API{
		Group: group, Version: version, Kind: t.info.Name,
		Plural:   strings.ToLower(flect.Pluralize(t.info.Name)), // not of the lower-case name, as in the CRD
		Doc:      t.info.Doc,
		Position: r.at(t.info.RawSpec.Pos(), "").Position,
		Markers:  r.kindMarkers(t),
	}
	for _, value := range t.info.Markers["kubebuilder:resource"] {
		if m, ok := value.(crdmarkers.Resource); ok && m.Path != "" {
			api.Plural = m.Path
		}
	}
	for _, f := range r.fieldsOf(t, map[*apiType]bool{}) {
		switch jsonName(f.field) {
		case "spec":
			api.Spec = r.nestedFields(f.in, f.field)
		case "status":
			api.Status = r.nestedFields(f.in, f.field)
		}
	}
	return api
}

// A declaredField is a field with the type that declares it.
type declaredField struct {
	in    *apiType
	field *ast.Field
}

// fieldsOf returns the fields of a type, or of the type that it is defined as. Fields of inlined structs come first, as the
// other fields replace them. No type is entered twice.
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
	var inlined, direct []declaredField
	for _, field := range t.structure.Fields.List {
		if len(field.Names) > 0 || jsonName(field) != "" {
			direct = append(direct, declaredField{t, field})
			continue
		}
		expr := field.Type
		if star, ok := expr.(*ast.StarExpr); ok {
			expr = star.X
		}
		if target := r.typeOf(t.in, expr); target != nil {
			inlined = append(inlined, r.fieldsOf(target, entered)...)
		}
	}
	return append(inlined, direct...)
}

// jsonTag returns the value of the json key in the tag of a field, or "".
func jsonTag(field *ast.Field) string {
	if field.Tag == nil {
		return ""
	}
	tag, _ := strconv.Unquote(field.Tag.Value)
	return reflect.StructTag(tag).Get("json")
}

// jsonName returns the name of a field in JSON according to its tag, or "".
func jsonName(field *ast.Field) string {
	name, _, _ := strings.Cut(jsonTag(field), ",")
	return name
}
