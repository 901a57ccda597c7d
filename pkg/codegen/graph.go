package codegen

import (
	"context"
	"errors"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	gomodule "golang.org/x/mod/module"
	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// assemble returns what load returns, without the Go files that cgo generates. The dependencies come from the store where
// it holds those of an earlier run: they depend on the modules of the project and on its imports of other packages, but
// not on the rest of its source. Otherwise they come from the go command, or, where modules are missing, from
// builtinGraph.
func (g *generation) assemble(ctx context.Context, roots []*parsed) ([]*loader.Package, error) {
	locals := g.closure(g.roots)
	if g.needsGo(locals) {
		return g.load(ctx, roots)
	}
	if g.env.find("go") == "" {
		return nil, ErrGoMissing
	}
	external := map[string]bool{}
	for _, one := range locals {
		for _, target := range one.imports {
			if g.syntax.byPath[target] == nil {
				external[target] = true
			}
		}
	}
	parts := [][]byte{g.modules[:]}
	for _, target := range slices.Sorted(maps.Keys(external)) {
		parts = append(parts, []byte(target))
	}
	key := digestOf(parts...)
	graph, ok := g.store.get("graphs", key)
	var byID map[string]*packages.Package
	if ok && len(graph) > 0 && g.holds(graph[0]) {
		byID = g.decodeGraph(graph[1:])
	} else if listed, err := g.list(ctx, g.roots); err == nil {
		graph = append([][]byte{g.mutable(listed)}, g.encodeGraph(listed)...)
		g.store.put("graphs", key, graph)
		byID = g.decodeGraph(graph[1:])
	} else if !errors.Is(err, ErrModulesMissing) {
		return nil, err
	} else if byID = g.builtinGraph(locals); byID == nil {
		return nil, err
	}
	for _, one := range locals {
		byID[one.path] = &packages.Package{ID: one.path, PkgPath: one.path, Name: one.view.Name}
	}
	for _, one := range locals {
		raw := byID[one.path]
		for _, file := range one.files {
			raw.GoFiles = append(raw.GoFiles, g.project.abs(file.name))
		}
		raw.Imports = map[string]*packages.Package{}
		for _, target := range one.imports {
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
	if loaded := wrap(g.syntax.fset, wanted); loaded != nil {
		return loaded, nil
	}
	return g.load(ctx, roots)
}

// closure returns roots and all packages of the project that they import.
func (g *generation) closure(roots []*parsed) []*parsed {
	var list []*parsed
	seen := map[*parsed]bool{}
	var reach func(*parsed)
	reach = func(one *parsed) {
		if one == nil || seen[one] {
			return
		}
		seen[one] = true
		list = append(list, one)
		for _, target := range one.imports {
			reach(g.syntax.byPath[target])
		}
	}
	for _, root := range roots {
		reach(root)
	}
	return list
}

// needsGo reports whether the go command may return an error or a file for packages of the project that does not follow
// from their Go files and imports.
func (g *generation) needsGo(locals []*parsed) bool {
	if driver := g.env.get("GOPACKAGESDRIVER"); driver != "off" && (driver != "" || g.env.find("gopackagesdriver") != "") {
		return true
	}
	onPath := map[*parsed]bool{}
	var cyclic func(*parsed) bool
	cyclic = func(one *parsed) bool {
		if done, seen := onPath[one]; seen {
			return !done
		}
		onPath[one] = false
		for _, target := range one.imports {
			if imported := g.syntax.byPath[target]; imported != nil && cyclic(imported) {
				return true
			}
		}
		onPath[one] = true
		return false
	}
	for _, one := range locals {
		if one.module.dir != "." || len(one.files) == 0 || gomodule.CheckImportPath(one.path) != nil || cyclic(one) || g.isRequired(one.path) {
			return true
		}
		for _, target := range one.imports {
			imported := g.syntax.byPath[target]
			if target == "C" || imported != nil && imported.view.Name == "main" || !mayImport(one.path, target) {
				return true
			}
		}
		names, err := g.project.list(one.dir)
		if err != nil || slices.ContainsFunc(names, isForeignSource) {
			return true
		}
	}
	return false
}

// isRequired reports whether a required module may provide a package of the project, too, which is an error.
func (g *generation) isRequired(importPath string) bool {
	return slices.ContainsFunc(g.required, func(mod string) bool {
		return importPath == mod || strings.HasPrefix(importPath, mod+"/")
	})
}

// mayImport reports whether the rule for internal packages allows an import.
func mayImport(importer, target string) bool {
	elements := strings.Split(target, "/")
	for i := len(elements) - 1; i >= 0; i-- {
		if elements[i] == "internal" {
			parent := strings.Join(elements[:i], "/")
			return parent != "" && (importer == parent || strings.HasPrefix(importer, parent+"/"))
		}
	}
	return true
}

// isForeignSource reports whether the go command treats a file as source in a language other than Go.
func isForeignSource(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".c", ".cc", ".cpp", ".cxx", ".m", ".h", ".hh", ".hpp", ".hxx", ".f", ".for", ".f90", ".s", ".sx", ".swig", ".swigcxx", ".syso":
		return true
	}
	return false
}

// list lists packages and all that they import with the go command. Unlike load it does not request the files that cgo
// generates: for these the go command computes the build IDs of all packages, which is more than half of its work.
func (g *generation) list(ctx context.Context, roots []*parsed) ([]*packages.Package, error) {
	config, remove, err := g.config(ctx)
	if err != nil {
		return nil, err
	}
	defer remove()
	config.Mode = packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps
	listed, err := packages.Load(config, g.patterns(roots)...)
	if err != nil {
		return nil, g.loadError(ctx, err)
	}
	return listed, g.packageErrors(listed)
}

// mutable returns the witnesses of listed packages: see witnesses.
func (g *generation) mutable(listed []*packages.Package) []byte {
	dirs := map[string]string{}
	packages.Visit(listed, nil, func(one *packages.Package) { g.witness(dirs, one) })
	return encodeWitnesses(dirs)
}

// encodeGraph encodes listed packages but those of the project: ID, name, path, files, and pairs of an import and its
// ID. An empty part ends the latter two lists. Files that may change are named relative to the root, as by witnesses.
func (g *generation) encodeGraph(listed []*packages.Package) [][]byte {
	var parts [][]byte
	put := func(texts ...string) {
		for _, text := range texts {
			parts = append(parts, []byte(text))
		}
	}
	packages.Visit(listed, nil, func(one *packages.Package) {
		if g.syntax.byPath[one.PkgPath] != nil {
			return
		}
		put(one.ID, one.Name, one.PkgPath)
		fixed := g.immutable(one.GoFiles)
		for _, name := range one.GoFiles {
			if rel, err := filepath.Rel(g.project.root, name); err == nil && !fixed {
				name = rel
			}
			put(name)
		}
		put("")
		for _, target := range slices.Sorted(maps.Keys(one.Imports)) {
			put(target, one.Imports[target].ID)
		}
		put("")
	})
	return parts
}

// decodeGraph decodes packages, by ID, and links them. An import that was not encoded is left out.
func (g *generation) decodeGraph(parts [][]byte) map[string]*packages.Package {
	byID := map[string]*packages.Package{}
	next := func() string {
		if len(parts) == 0 {
			return ""
		}
		text := string(parts[0])
		parts = parts[1:]
		return text
	}
	type edge struct {
		from       *packages.Package
		target, id string
	}
	var edges []edge
	for len(parts) > 0 {
		one := &packages.Package{ID: next(), Name: next(), PkgPath: next(), Imports: map[string]*packages.Package{}}
		byID[one.ID] = one
		for name := next(); name != ""; name = next() {
			if !filepath.IsAbs(name) {
				name = filepath.Join(g.project.root, name)
			}
			one.GoFiles = append(one.GoFiles, name)
		}
		for target := next(); target != ""; target = next() {
			edges = append(edges, edge{one, target, next()})
		}
	}
	for _, e := range edges {
		if imported := byID[e.id]; imported != nil {
			e.from.Imports[e.target] = imported
		}
	}
	return byID
}

// wrap returns packages of a controller-tools loader, which parses and checks them when a generator needs it. The only
// exported function that creates a loader also lists the packages, with NeedCompiledGoFiles. So wrap sets the two
// unexported fields that a loader needs. It returns nil if a loader does not have these fields.
func wrap(fset *token.FileSet, roots []*packages.Package) []*loader.Package {
	set := func(field reflect.Value, value reflect.Value) bool {
		if !field.IsValid() || field.Type() != value.Type() {
			return false
		}
		reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Set(value)
		return true
	}
	imports := map[string]*packages.Package{}
	for _, root := range roots {
		imports[root.ID] = root
	}
	all := &loader.Package{Package: &packages.Package{Imports: imports}}
	field := reflect.ValueOf(all).Elem().FieldByName("loader")
	if !field.IsValid() || field.Kind() != reflect.Pointer {
		return nil
	}
	made := reflect.New(field.Type().Elem())
	if made.Elem().Kind() != reflect.Struct ||
		!set(made.Elem().FieldByName("cfg"), reflect.ValueOf(&packages.Config{Fset: fset})) ||
		!set(made.Elem().FieldByName("packages"), reflect.ValueOf(map[*packages.Package]*loader.Package{})) ||
		!set(field, made) {
		return nil
	}
	wrapped := all.Imports()
	loaded := make([]*loader.Package, len(roots))
	for i, root := range roots {
		loaded[i] = wrapped[root.ID]
	}
	return loaded
}
