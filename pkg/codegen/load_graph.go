package codegen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	gomodule "golang.org/x/mod/module"
	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"

	"github.com/operon-sdk/operon/pkg/filecache"
	"github.com/operon-sdk/operon/pkg/gosource"
)

// assemble returns the same packages as load, without the Go files that cgo generates. Their dependencies are cached: they
// depend on the modules of the project and on its imports of other packages, but not on the rest of its source. If they are
// not in the store, they are listed by the go command, or, if modules are missing, come from builtinGraph.
func (g *generation) assemble(ctx context.Context, roots []*parsedPackage) ([]*loader.Package, error) {
	locals := g.closure(g.roots)
	if g.needsGo(locals) {
		return g.load(ctx, roots)
	}
	if g.env.Find("go") == "" {
		return nil, ErrGoMissing
	}
	parts := [][]byte{g.modules[:]}
	for _, pkg := range locals {
		for _, target := range pkg.imports {
			if g.syntax.byPath[target] == nil {
				parts = append(parts, []byte(target))
			}
		}
	}
	slices.SortFunc(parts[1:], bytes.Compare)
	key := filecache.DigestOf(slices.CompactFunc(parts, bytes.Equal)...)
	var stored graph
	var byID map[string]*packages.Package
	if g.store.Get("graphs", key, &stored) && g.isCurrent(stored.External) {
		byID = g.decodeGraph(stored)
	} else if listed, err := g.list(ctx, g.roots); err == nil {
		stored = g.encodeGraph(listed)
		g.store.Put("graphs", key, stored)
		byID = g.decodeGraph(stored)
	} else if !errors.Is(err, ErrModulesMissing) {
		return nil, err
	} else if byID = g.builtinGraph(locals); byID == nil {
		return nil, err
	}
	for _, pkg := range locals {
		byID[pkg.path] = &packages.Package{ID: pkg.path, PkgPath: pkg.path, Name: pkg.view.Name}
	}
	for _, pkg := range locals {
		raw := byID[pkg.path]
		for _, file := range pkg.files {
			raw.GoFiles = append(raw.GoFiles, g.project.abs(file.name))
		}
		raw.Imports = map[string]*packages.Package{}
		for _, target := range pkg.imports {
			if byID[target] == nil {
				return g.load(ctx, roots) // the entry of the store is incomplete
			}
			raw.Imports[target] = byID[target]
		}
	}
	sizes := types.SizesFor("gc", g.project.context.GOARCH)
	for _, raw := range byID {
		raw.TypesSizes = sizes
		if raw.PkgPath != "unsafe" {
			raw.CompiledGoFiles = raw.GoFiles
		}
	}
	wanted := make([]*packages.Package, len(roots))
	for i, root := range roots {
		wanted[i] = byID[root.path]
	}
	return wrap(g.syntax.fset, wanted)
}

// closure returns roots and all packages of the project that they import.
func (g *generation) closure(roots []*parsedPackage) []*parsedPackage {
	list := slices.Clone(roots)
	added := map[*parsedPackage]bool{nil: true}
	for _, root := range roots {
		added[root] = true
	}
	for i := 0; i < len(list); i++ {
		for _, target := range list[i].imports {
			if imported := g.syntax.byPath[target]; !added[imported] {
				added[imported] = true
				list = append(list, imported)
			}
		}
	}
	return list
}

// needsGo reports whether the go command may return errors or files for packages of the project that do not follow from
// their Go files and imports.
func (g *generation) needsGo(locals []*parsedPackage) bool {
	if driver := g.env.Get("GOPACKAGESDRIVER"); driver != "off" && (driver != "" || g.env.Find("gopackagesdriver") != "") {
		return true
	}
	onPath := map[*parsedPackage]bool{}
	var cyclic func(*parsedPackage) bool
	cyclic = func(pkg *parsedPackage) bool {
		if done, visited := onPath[pkg]; visited {
			return !done
		}
		onPath[pkg] = false
		for _, target := range pkg.imports {
			if imported := g.syntax.byPath[target]; imported != nil && cyclic(imported) {
				return true
			}
		}
		onPath[pkg] = true
		return false
	}
	for _, pkg := range locals {
		if pkg.module.dir != "." || len(pkg.files) == 0 || gomodule.CheckImportPath(pkg.path) != nil || cyclic(pkg) ||
			g.isRequired(pkg.path) {
			return true
		}
		for _, target := range pkg.imports {
			imported := g.syntax.byPath[target]
			if target == "C" || imported != nil && imported.view.Name == "main" || !gosource.CanImport(pkg.path, target) {
				return true
			}
		}
		names, err := g.project.list(pkg.dir)
		if err != nil || slices.ContainsFunc(names, isForeignSource) {
			return true
		}
	}
	return false
}

// isRequired reports whether a required module may also provide a package of the project, which is an error.
func (g *generation) isRequired(importPath string) bool {
	return slices.ContainsFunc(g.required, func(mod string) bool {
		return importPath == mod || strings.HasPrefix(importPath, mod+"/")
	})
}

// isForeignSource reports whether the go command treats a file as source in a language other than Go.
func isForeignSource(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".c", ".cc", ".cpp", ".cxx", ".m", ".h", ".hh", ".hpp", ".hxx", ".f", ".for", ".f90", ".s", ".sx", ".swig", ".swigcxx",
		".syso":
		return true
	}
	return false
}

// list lists packages and their dependencies with the go command. Unlike load, it does not request the files that cgo
// generates, for which the go command computes the build IDs of all packages: more than half of its work.
func (g *generation) list(ctx context.Context, roots []*parsedPackage) ([]*packages.Package, error) {
	config, remove, err := g.config(ctx)
	if err != nil {
		return nil, err
	}
	defer remove()
	config.Mode = packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps
	listed, err := packages.Load(config, g.patterns(roots)...)
	if err != nil {
		return nil, g.failure(ctx, err)
	}
	return listed, g.packageErrors(listed)
}

// A graph contains the dependencies of a project. It is an entry of the store.
type graph struct {
	External map[string]string // see generated
	Packages []graphPackage
}

// A graphPackage is a package in a graph. Dir is relative to the root if its content may change.
type graphPackage struct {
	ID, Name, Path, Dir string
	Files               []string
	Imports             map[string]string // IDs by import path
}

// encodeGraph encodes listed packages that aren't the project's.
func (g *generation) encodeGraph(listed []*packages.Package) graph {
	all := graph{External: map[string]string{}}
	packages.Visit(listed, nil, func(pkg *packages.Package) {
		g.addExternal(all.External, pkg)
		if g.syntax.byPath[pkg.PkgPath] != nil {
			return
		}
		encoded := graphPackage{ID: pkg.ID, Name: pkg.Name, Path: pkg.PkgPath, Imports: map[string]string{}}
		for _, name := range pkg.GoFiles {
			encoded.Dir = filepath.Dir(name)
			encoded.Files = append(encoded.Files, filepath.Base(name))
		}
		if rel, err := filepath.Rel(g.project.root, encoded.Dir); err == nil && !g.immutable(pkg.GoFiles) {
			encoded.Dir = rel
		}
		for target, imported := range pkg.Imports {
			encoded.Imports[target] = imported.ID
		}
		all.Packages = append(all.Packages, encoded)
	})
	return all
}

// decodeGraph decodes packages, by ID, and links them. An import that was not encoded is left out.
func (g *generation) decodeGraph(all graph) map[string]*packages.Package {
	byID := make(map[string]*packages.Package, len(all.Packages))
	for _, encoded := range all.Packages {
		pkg := &packages.Package{
			ID: encoded.ID, Name: encoded.Name, PkgPath: encoded.Path, Imports: map[string]*packages.Package{},
		}
		dir := encoded.Dir
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(g.project.root, dir)
		}
		for _, name := range encoded.Files {
			pkg.GoFiles = append(pkg.GoFiles, filepath.Join(dir, name))
		}
		byID[pkg.ID] = pkg
	}
	for _, encoded := range all.Packages {
		for target, id := range encoded.Imports {
			if imported := byID[id]; imported != nil {
				byID[encoded.ID].Imports[target] = imported
			}
		}
	}
	return byID
}

// wrap returns packages of a controller-tools loader, which parses and checks them when a generator needs it. The only
// exported function that creates a loader also lists the packages, with NeedCompiledGoFiles. So wrap sets the two
// unexported fields that a loader needs.
func wrap(fset *token.FileSet, roots []*packages.Package) ([]*loader.Package, error) {
	imports := map[string]*packages.Package{}
	for _, root := range roots {
		imports[root.ID] = root
	}
	all := &loader.Package{Package: &packages.Package{Imports: imports}}
	created, err := settable(reflect.ValueOf(all), "loader", reflect.Pointer)
	if err != nil {
		return nil, err
	}
	created.Set(reflect.New(created.Type().Elem()))
	for name, value := range map[string]any{"cfg": &packages.Config{Fset: fset}, "packages": map[*packages.Package]*loader.Package{}} {
		field, err := settable(created, name, reflect.TypeOf(value).Kind())
		if err != nil {
			return nil, err
		}
		field.Set(reflect.ValueOf(value))
	}
	wrapped := all.Imports()
	loaded := make([]*loader.Package, len(roots))
	for i, root := range roots {
		loaded[i] = wrapped[root.ID]
	}
	return loaded, nil
}

// settable returns a field of the struct that a pointer points to, also an unexported one, so that it can be set.
func settable(pointer reflect.Value, name string, kind reflect.Kind) (reflect.Value, error) {
	field := pointer.Elem().FieldByName(name)
	if field.Kind() != kind {
		return field, fmt.Errorf("%s of controller-tools has no field %s that is a %s; report this as a bug of Operon", pointer.Type(), name, kind)
	}
	return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem(), nil
}
