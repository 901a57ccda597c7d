package codegen

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"

	"github.com/operon-sdk/operon/pkg/filecache"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// controllerToolsVersion is the release of controller-tools whose output the generated files equal, and that they contain.
const controllerToolsVersion = "v0.23.0"

// versionAnnotation is the annotation of a CRD with that version.
const versionAnnotation = "controller-gen.kubebuilder.io/version"

// A crdGenerator is the generator of CRDs, except that it writes controllerToolsVersion where the embedded one writes the
// version that is linked into the program, and that it can leave out kinds.
type crdGenerator struct {
	crd.Generator
	// wanted selects kinds; nil selects all.
	wanted func(schema.GroupKind) bool
	// check receives each CRD with the types of its versions; nil checks nothing.
	check func(types *crd.Parser, definition apiextensionsv1.CustomResourceDefinition, versions []crd.TypeIdent)
	// isLocal reports whether a package belongs to the project, and unsupported receives the problems of its fields; nil for problems of the roots,
	// and to record errors.
	isLocal     func(*loader.Package) bool
	unsupported func([]typeProblem)
	// store caches the text of CRDs, because few kinds of a package change at a time and writing YAML takes longer than the
	// rest.
	store *filecache.Store
}

// Generate implements genall.Generator.
func (g crdGenerator) Generate(ctx *genall.GenerationContext) error {
	types, kinds := g.parse(ctx)
	if len(kinds) == 0 {
		return nil
	}
	header := ""
	if g.HeaderFile != "" {
		data, err := ctx.ReadFile(g.HeaderFile)
		if err != nil {
			return err
		}
		header = string(data)
	}
	header = strings.ReplaceAll(header, " YEAR", " "+g.Year)
	if g.wanted != nil {
		kinds = slices.DeleteFunc(kinds, func(kind schema.GroupKind) bool { return !g.wanted(kind) })
	}
	var idents []crd.TypeIdent
	for _, kind := range kinds {
		idents = append(idents, versionsOf(types, kind)...)
	}
	prepared := prepareTypes(types, ctx.Roots, idents, g.isLocal)
	if len(prepared.problems) > 0 && g.unsupported != nil {
		g.unsupported(prepared.problems)
	} else if len(prepared.problems) > 0 {
		defer func() {
			if cause := recover(); cause != nil {
				recordProblems(prepared.problems)
			}
		}()
	}
	loadSchemas(types, kinds)
	flattener := &crd.Flattener{Parser: types, LookupReference: prepared.lookup}
	for _, kind := range kinds {
		versions := versionsOf(types, kind)
		flat := flattenSchemas(flattener, versions, &schemaSize{maxDescLen: g.MaxDescLen})
		if flat == nil {
			continue
		}
		for i, version := range versions {
			types.FlattenedSchemata[version] = *crd.FlattenEmbedded(flat[i], version.Package)
		}
		types.NeedCRDFor(kind, g.MaxDescLen)
		definition := types.CustomResourceDefinitions[kind]
		// A large schema needs a hundred times its size in memory, so that copies are released early.
		delete(types.CustomResourceDefinitions, kind)
		for _, version := range versions {
			delete(types.FlattenedSchemata, version)
		}
		// The API server accepts no properties of metadata.
		crd.FixTopLevelMetadata(definition)
		if g.check != nil {
			g.check(types, definition, versions)
		}
		if err := g.write(ctx, definition, header); err != nil {
			return fmt.Errorf("kind %s: %w", kind, err)
		}
	}
	return nil
}

// parse returns a parser of the packages, and the kinds in them.
func (g crdGenerator) parse(ctx *genall.GenerationContext) (*crd.Parser, []schema.GroupKind) {
	isSet := func(option *bool) bool { return option != nil && *option }
	types := &crd.Parser{
		Collector:                  ctx.Collector,
		Checker:                    ctx.Checker,
		IgnoreUnexportedFields:     isSet(g.IgnoreUnexportedFields),
		AllowDangerousTypes:        isSet(g.AllowDangerousTypes),
		GenerateEmbeddedObjectMeta: isSet(g.GenerateEmbeddedObjectMeta),
	}
	crd.AddKnownTypes(types)
	for _, root := range ctx.Roots {
		types.NeedPackage(root)
	}
	metav1 := crd.FindMetav1(ctx.Roots)
	if metav1 == nil {
		return types, nil // no kinds without it
	}
	kinds := crd.FindKubeKinds(types, metav1)
	return types, slices.DeleteFunc(kinds, func(kind schema.GroupKind) bool { return len(versionsOf(types, kind)) == 0 })
}

// versionsOf returns the types that declare the versions of a kind, sorted by package.
func versionsOf(parser *crd.Parser, kind schema.GroupKind) []crd.TypeIdent {
	var versions []crd.TypeIdent
	for in, version := range parser.GroupVersions {
		ident := crd.TypeIdent{Package: in, Name: kind.Kind}
		// A generic type is no kind, though controller-tools takes it for one.
		if info := parser.Types[ident]; version.Group == kind.Group && info != nil && info.RawSpec.TypeParams == nil {
			versions = append(versions, ident)
		}
	}
	slices.SortFunc(versions, func(a, b crd.TypeIdent) int { return strings.Compare(a.Package.PkgPath, b.Package.PkgPath) })
	return versions
}

// loadSchemas loads the schemas of all versions of kinds. It removes the types that controller-tools v0.23 derives for
// fields of named slices and maps if the schema of the named type has another type, such as string for net.IP. Such fields
// would be errors, which they were not in earlier releases.
func loadSchemas(parser *crd.Parser, kinds []schema.GroupKind) {
	for _, kind := range kinds {
		for _, ident := range versionsOf(parser, kind) {
			parser.NeedSchemaFor(ident)
		}
	}
	for ident, definition := range parser.Schemata {
		crd.EditSchema(&definition, derivedTypes{parser, ident.Package})
		parser.Schemata[ident] = definition
	}
}

// derivedTypes removes derived types from the schemas of a package: see loadSchemas.
type derivedTypes struct {
	parser *crd.Parser
	in     *loader.Package
}

// Visit implements crd.SchemaVisitor.
func (v derivedTypes) Visit(node *apiextensionsv1.JSONSchemaProps) crd.SchemaVisitor {
	if node == nil || node.Ref == nil || node.Type != "array" && node.Type != "object" {
		return v
	}
	name, pkgPath, err := crd.RefParts(*node.Ref)
	if err != nil {
		return v
	}
	for ident, definition := range v.parser.Schemata {
		inPackage := ident.Package == v.in
		if pkgPath != "" {
			inPackage = loader.NonVendorPath(ident.Package.PkgPath) == pkgPath
		}
		if ident.Name == name && inPackage && definition.Type != "" && definition.Type != node.Type {
			node.Type = ""
		}
	}
	return v
}

// write writes a CRD in the selected versions of the CRD API.
func (g crdGenerator) write(
	ctx *genall.GenerationContext, definition apiextensionsv1.CustomResourceDefinition, header string,
) error {
	if g.OmitToolVersion == nil || !*g.OmitToolVersion {
		if definition.Annotations == nil {
			definition.Annotations = map[string]string{}
		}
		definition.Annotations[versionAnnotation] = controllerToolsVersion
	}
	options := []*genall.WriteYAMLOptions{
		genall.WithTransform(func(obj map[string]any) error {
			delete(obj, "status")
			spec, ok := obj["spec"].(map[string]any)
			if preserve := g.DeprecatedV1beta1CompatibilityPreserveUnknownFields; ok && preserve != nil {
				spec["preserveUnknownFields"] = *preserve
			}
			return nil
		}),
		genall.WithTransform(genall.TransformRemoveCreationTimestamp),
	}
	name := definition.Spec.Group + "_" + definition.Spec.Names.Plural
	versions := g.CRDVersions
	if len(versions) == 0 {
		versions = []string{"v1"}
	}
	for i, version := range versions {
		object, err := crd.AsVersion(definition, schema.GroupVersion{Group: apiextensionsv1.GroupName, Version: version})
		if err != nil {
			return err
		}
		file := name + ".yaml"
		if i > 0 {
			file = name + "." + version + ".yaml"
		}
		text, err := g.text(header, object, options)
		if err != nil {
			return err
		}
		out, err := ctx.Open(nil, file)
		if err != nil {
			return err
		}
		_, err = out.Write(text)
		if err := errors.Join(err, out.Close()); err != nil {
			return err
		}
	}
	return nil
}

// versionLine matches the line of a manifest with the version of controller-gen.
var versionLine = lazyregexp.New(`(?m)^ +` + regexp.QuoteMeta(versionAnnotation) + `: (.*)\n`)

// keepVersions replaces files with the project's files that differ only in the version of controller-gen, with
// Options.KeepVersion.
func (g *generation) keepVersions(files map[string][]byte) {
	if !g.opts.KeepVersion {
		return
	}
	for name, content := range files {
		if !versionLine.Match(content) {
			continue
		}
		current, err := g.project.read(name)
		if err == nil && versionLine.Match(current) &&
			sameButVersion(current, content) {
			files[name] = current
		}
	}
}

func (g crdGenerator) text(header string, object any, options []*genall.WriteYAMLOptions) ([]byte, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	preserve := "" // the only option that is not part of the object
	if p := g.DeprecatedV1beta1CompatibilityPreserveUnknownFields; p != nil {
		preserve = strconv.FormatBool(*p)
	}
	key := filecache.DigestOf([]byte("crd"), []byte(format), []byte(controllerToolsVersion), []byte(g.store.Build), []byte(header),
		[]byte(preserve), data)
	var text []byte
	if g.store.Get("crds", key, &text) {
		return text, nil
	}
	const name = "crd"
	files := map[string][]byte{}
	ctx := genall.GenerationContext{OutputRule: &artifacts{files: files}}
	if err := ctx.WriteYAML(name, header, []any{json.RawMessage(data)}, options...); err != nil {
		return nil, err
	}
	g.store.Put("crds", key, files[name])
	return files[name], nil
}
