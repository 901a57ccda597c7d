package codegen

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	_ "unsafe" // for the link to buildOpenAPISchema

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/code-generator/cmd/applyconfiguration-gen/args"
	"k8s.io/code-generator/cmd/applyconfiguration-gen/generators"
	"k8s.io/gengo/v2"
	"k8s.io/gengo/v2/generator"
	"k8s.io/gengo/v2/parser"
	"k8s.io/gengo/v2/types"
	"sigs.k8s.io/controller-tools/pkg/applyconfiguration"
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// The markers that enable apply configurations, of a package or of a type.
const (
	applyMarker       = "kubebuilder:ac:generate"
	applyOutputMarker = "kubebuilder:ac:output:package"
)

// applyDir returns the directory of the apply configurations of a package, or "" if it has none.
func (s *syntax) applyDir(pkg *parsedPackage) (string, error) {
	values, err := markers.PackageMarkers(s.collector, pkg.view)
	if err != nil {
		return "", err
	}
	if enabled, _ := values.Get(applyMarker).(bool); !enabled {
		return "", nil
	}
	dir, ok := values.Get(applyOutputMarker).(string)
	if !ok {
		dir = "applyconfiguration"
	}
	return path.Join(pkg.dir, dir), nil
}

// buildOpenAPISchema is the part of controller-tools' generator that describes the types for the Extract functions. The
// other parts are replaced below: they use the working directory and environment of the process, and write to the project.
//
//go:linkname buildOpenAPISchema sigs.k8s.io/controller-tools/pkg/applyconfiguration.(*ObjectGenCtx).buildOpenAPISchema
func buildOpenAPISchema(*applyconfiguration.ObjectGenCtx, *loader.Package, schema.GroupVersion) (string, error)

// applyConfigurations generates the apply configurations of a unit as controller-gen does. The code generators of
// Kubernetes read and write files, so they run on a copy of the packages in a temporary directory.
func (g *generation) applyConfigurations(ctx context.Context, u *unit) (loaded []*loader.Package, err error) {
	if g.env.Find("go") == "" {
		return nil, ErrGoMissing
	}
	temp, err := g.env.Prepare(g.project.root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = temp.Remove() }() // a later command removes the remaining files
	dir := filepath.Join(temp.Path, "module")
	if err := g.copyPackages(dir, u); err != nil {
		return nil, fmt.Errorf("generating apply configurations: %w", err)
	}
	pkg := u.roots[0]
	flags := "GOFLAGS=" + strings.TrimSpace(g.env.Setting("GOFLAGS")+" -mod=mod")
	config := &packages.Config{
		Context: ctx, Dir: dir, BuildFlags: []string{g.env.TagsFlag()},
		Env: append(slices.Clone(g.env.Vars), temp.Variable(), "GOWORK=off", flags),
	}
	loaded, err = loader.LoadRootsWithConfig(config, pkg.path)
	if err != nil {
		return nil, g.failure(ctx, err)
	}
	if err := g.packageErrors([]*packages.Package{loaded[0].Package}); err != nil {
		return nil, err
	}
	if err := recoverPanic(func() error { return g.writeApplyConfigurations(config, loaded[0], u, dir) }); err != nil {
		if findings := g.syntax.instances(pkg); len(findings) > 0 {
			return nil, findings
		}
		problem := "cannot generate apply configurations: " + err.Error()
		return nil, diag.Findings{{Position: diag.Position{File: pkg.dir}, Problem: problem}}
	}
	return loaded, g.readApplyConfigurations(dir, u)
}

// copyPackages copies the packages of a unit with their imports, and go.mod and go.sum, into a directory.
func (g *generation) copyPackages(dir string, u *unit) error {
	write := func(name string, data []byte) error {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		return os.WriteFile(file, data, 0o600)
	}
	for _, pkg := range g.closure(u.roots) {
		for _, file := range pkg.files {
			data, err := g.project.read(file.name)
			if err != nil {
				return err
			}
			if err := write(file.name, data); err != nil {
				return err
			}
		}
	}
	for _, m := range g.project.modules {
		for _, name := range []string{"go.mod", "go.sum"} {
			data, err := g.project.read(path.Join(m.dir, name))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err == nil && name == "go.mod" {
				data, err = g.absoluteReplacements(m, data)
			}
			if err == nil {
				err = write(path.Join(m.dir, name), data)
			}
			if err != nil {
				return err
			}
		}
	}
	return write("header.txt", u.task.header)
}

// absoluteReplacements returns a go.mod whose replace directives name directories outside of the project by their
// absolute paths.
func (g *generation) absoluteReplacements(m *module, data []byte) ([]byte, error) {
	file, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range file.Replace {
		target := filepath.Join(g.project.abs(m.dir), filepath.FromSlash(r.New.Path))
		if !modfile.IsDirectoryPath(r.New.Path) || filepath.IsAbs(r.New.Path) {
			continue
		}
		if rel, err := filepath.Rel(g.project.root, target); err == nil && filepath.IsLocal(rel) {
			continue
		}
		if err := file.AddReplace(r.Old.Path, r.Old.Version, target, ""); err != nil {
			return nil, err
		}
	}
	return file.Format()
}

// writeApplyConfigurations runs the code generator on a copy of a package.
func (g *generation) writeApplyConfigurations(config *packages.Config, root *loader.Package, u *unit, dir string) error {
	registry := &markers.Registry{}
	if err := (applyconfiguration.Generator{}).RegisterMarkers(registry); err != nil {
		return err
	}
	collector := &markers.Collector{Registry: registry}
	sources := parser.NewWithOptions(parser.Options{BuildTags: []string{gengo.StdBuildTag}})
	if err := sources.LoadPackagesWithConfigForTesting(config, root.PkgPath); err != nil {
		return err
	}
	universe, err := generator.NewContext(sources, generators.NameSystems(), generators.DefaultNameSystem())
	if err != nil {
		return err
	}
	apiPackage := universe.Universe[root.PkgPath]
	if apiPackage == nil {
		return fmt.Errorf("package %s not found", root.PkgPath)
	}
	values, err := markers.PackageMarkers(collector, root)
	if err != nil {
		return err
	}
	gv := schema.GroupVersion{Group: u.group, Version: root.Name}
	if version, ok := values.Get("versionName").(string); ok {
		gv.Version = version
	}
	apiPackage.Comments = append(apiPackage.Comments, "+groupName="+gv.Group)
	// The code generator supports only the markers of client-gen.
	err = markers.EachType(collector, root, func(info *markers.TypeInfo) {
		resource, isCRD := info.Markers.Get("kubebuilder:resource").(crdmarkers.Resource)
		enabled, marked := info.Markers.Get(applyMarker).(bool)
		typ := apiPackage.Types[info.Name]
		if typ == nil || marked && !enabled || !marked && !isCRD {
			return
		}
		lines := slices.Concat(typ.CommentLines, typ.SecondClosestCommentLines)
		for marker, wanted := range map[string]bool{"+genclient": true, "+genclient:nonNamespaced": resource.Scope == "Cluster"} {
			if wanted && !slices.Contains(lines, marker) {
				typ.CommentLines = append(typ.CommentLines, marker)
			}
		}
	})
	if err != nil {
		return err
	}
	arguments := args.New()
	arguments.GoHeaderFile = filepath.Join(dir, "header.txt")
	arguments.OutputDir = filepath.Join(dir, filepath.FromSlash(u.apply))
	arguments.OutputPkg = path.Join(root.PkgPath, strings.TrimPrefix(u.apply, u.roots[0].dir+"/"))
	if t, ok := u.task.generator.(applyconfiguration.Generator); ok {
		for _, mapping := range t.ExternalApplyConfigurations {
			from, to, found := strings.Cut(mapping, "@")
			if !found {
				return fmt.Errorf("externalApplyConfigurations: %q must be PACKAGE.TYPE@PACKAGE", mapping)
			}
			arguments.ExternalApplyConfigurations[types.ParseFullyQualifiedName(from)] = to
		}
	}
	schemaContext := &applyconfiguration.ObjectGenCtx{
		Collector: collector,
		Checker:   &loader.TypeChecker{NodeFilters: []loader.NodeFilter{applyconfiguration.Generator{}.CheckFilter()}},
	}
	if arguments.OpenAPISchemaFilePath, err = buildOpenAPISchema(schemaContext, root, gv); err != nil {
		return err
	}
	if arguments.OpenAPISchemaFilePath != "" {
		defer os.Remove(arguments.OpenAPISchemaFilePath)
	}
	return universe.ExecuteTargets(generators.GetTargets(universe, arguments))
}

// generatedBy matches the line with the name of the generator.
var generatedBy = lazyregexp.New(`(?m)^// Code generated by [^\n]*\. DO NOT EDIT\.$`)

// readApplyConfigurations reads the generated files. It replaces the name of this program by controller-gen.
func (g *generation) readApplyConfigurations(dir string, u *unit) error {
	root := filepath.Join(dir, filepath.FromSlash(u.apply))
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == root {
			return nil // no type has a marker
		}
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		u.Files[filepath.ToSlash(rel)] = generatedBy.ReplaceAll(data, []byte("// Code generated by controller-gen. DO NOT EDIT."))
		return err
	})
}
