package codegen

import (
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// A copySource answers which types have DeepCopy methods.
type copySource struct {
	collector *markers.Collector
	index     *packageIndex
	// enabled are the types that get methods, by package.
	enabled map[*loader.Package]map[string]bool
	// inFiles are the types with methods in the files of packages.
	inFiles map[string]map[string]bool
}

// A packageIndex finds packages among those that the roots import.
type packageIndex struct {
	roots  []*loader.Package
	byPath map[string]*loader.Package
}

// find returns the package with an import path, or nil.
func (x *packageIndex) find(importPath string) *loader.Package {
	if x.byPath == nil {
		x.byPath = map[string]*loader.Package{}
		queue := slices.Clone(x.roots)
		for len(queue) > 0 {
			pkg := queue[0]
			queue = queue[1:]
			if x.byPath[pkg.PkgPath] != nil {
				continue
			}
			x.byPath[pkg.PkgPath] = pkg
			for _, imported := range pkg.Imports() {
				queue = append(queue, imported)
			}
		}
	}
	return x.byPath[importPath]
}

const (
	generateMarker = "kubebuilder:object:generate"
	rootMarker     = "kubebuilder:object:root"
	legacyMarker   = "k8s:deepcopy-gen"
	legacyRoot     = "k8s:deepcopy-gen:interfaces"
)

// isEnabled reports whether the markers of a package and a type ask for DeepCopy methods.
func (s *copySource) isEnabled(pkg *loader.Package, info *markers.TypeInfo) bool {
	if value, ok := info.Markers.Get(generateMarker).(bool); ok {
		return value
	}
	if value, ok := info.Markers.Get(legacyMarker).(markers.RawArguments); ok {
		return string(value) == "true"
	}
	if isRootObject(info) {
		return true
	}
	values, err := markers.PackageMarkers(s.collector, pkg)
	if err != nil {
		return false
	}
	if value, ok := values.Get(generateMarker).(bool); ok {
		return value
	}
	value, _ := values.Get(legacyMarker).(markers.RawArguments)
	first, _, _ := strings.Cut(string(value), ",")
	return first == "package"
}

// isRootObject reports whether the markers of a type ask for the method DeepCopyObject.
func isRootObject(info *markers.TypeInfo) bool {
	if value, ok := info.Markers.Get(rootMarker).(bool); ok {
		return value
	}
	return slices.Contains(info.Markers[legacyRoot], any("k8s.io/apimachinery/pkg/runtime.Object"))
}

// hasMethods reports whether a struct with a name has DeepCopy methods when all generators have run.
func (s *copySource) hasMethods(from *loader.Package, named *types.Named) bool {
	if declaredMethod(from, named) != "" {
		return true
	}
	if named.Obj().Pkg() == nil || len(typeArguments(named)) > 0 {
		return false
	}
	pkg := from
	if named.Obj().Pkg() != from.Types {
		importPath := named.Obj().Pkg().Path()
		if pkg = from.Imports()[importPath]; pkg == nil {
			pkg = s.index.find(importPath)
		}
	}
	if pkg == nil {
		return true // nothing is known about it
	}
	name := named.Obj().Name()
	return pkg != from && s.isInFiles(pkg, name) || named.Obj().Exported() && s.isEnabledByName(pkg, name)
}

// isEnabledByName reports whether the type of a package with a name gets DeepCopy methods.
func (s *copySource) isEnabledByName(pkg *loader.Package, name string) bool {
	if s.enabled[pkg] == nil { // before types are hidden from controller-tools
		s.enabled[pkg] = map[string]bool{}
		_ = markers.EachType(s.collector, pkg, func(info *markers.TypeInfo) {
			s.enabled[pkg][info.Name] = info.RawSpec.TypeParams == nil && s.isEnabled(pkg, info)
		})
	}
	return s.enabled[pkg][name]
}

// isInFiles reports whether a type of another package has a method DeepCopyInto in a file that is left out when the package is loaded, as
// generated files are.
func (s *copySource) isInFiles(pkg *loader.Package, name string) bool {
	for _, pattern := range []string{"zz_generated*.go", "*.go"} { // the others can be large, and are rarely needed
		key := pkg.PkgPath + " " + pattern
		if s.inFiles[key] == nil {
			s.inFiles[key] = methodsInFiles(pkg, pattern)
		}
		if s.inFiles[key][""] { // nothing is known about a package whose files are missing
			return true
		}
		if s.inFiles[key][name] {
			return true
		}
	}
	return false
}

// intoMethod matches the declaration of a method DeepCopyInto.
var intoMethod = lazyregexp.New(`(?m)^func \((?:\w+ )?\*?(\w+)\) DeepCopyInto\(`)

// methodsInFiles returns the types with a method DeepCopyInto in the files of a package whose names match a pattern. An empty name stands for
// all types, if the package has no files on disk.
func methodsInFiles(pkg *loader.Package, pattern string) map[string]bool {
	found := map[string]bool{}
	if len(pkg.GoFiles) == 0 {
		return map[string]bool{"": true}
	}
	dir := filepath.Dir(pkg.GoFiles[0])
	entries, err := os.ReadDir(dir)
	if err != nil {
		return map[string]bool{"": true}
	}
	for _, entry := range entries {
		if ok, _ := filepath.Match(pattern, entry.Name()); !ok {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			continue
		}
		for _, match := range intoMethod.FindAllSubmatch(data, -1) {
			found[string(match[1])] = true
		}
	}
	return found
}

// declaredMethod returns how the source of a type copies it: "DeepCopyInto", "*DeepCopy" for a method DeepCopy that returns a pointer,
// "DeepCopy" for one that returns a value, or "".
func declaredMethod(from *loader.Package, t types.Type) string {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return ""
	}
	method := func(name string, params, results int) *types.Signature {
		obj, index, _ := types.LookupFieldOrMethod(named, true, from.Types, name)
		if f, ok := obj.(*types.Func); ok && len(index) == 1 {
			if s := f.Signature(); s.Params().Len() == params && s.Results().Len() == results {
				return s
			}
		}
		return nil
	}
	if method("DeepCopyInto", 1, 0) != nil {
		return "DeepCopyInto"
	}
	if s := method("DeepCopy", 0, 1); s != nil {
		result := s.Results().At(0).Type()
		if pointer, ok := result.(*types.Pointer); ok && types.Identical(pointer.Elem(), named) {
			return "*DeepCopy"
		}
		if types.Identical(result, named) {
			return "DeepCopy"
		}
	}
	return ""
}

// isBrokenType reports whether the methods that controller-tools writes for a type would not compile.
func (s *copySource) isBrokenType(pkg *loader.Package, named *types.Named) bool {
	if structure, ok := named.Underlying().(*types.Struct); ok {
		for field := range structure.Fields() {
			if s.isBroken(pkg, field.Type(), isFieldType, nil) {
				return true
			}
		}
		return false
	}
	return s.isBroken(pkg, named.Underlying(), isElement, []types.Type{named})
}

// A use is where a type stands, by which controller-tools decides how to copy it.
type use int

const (
	isFieldType use = iota
	isPointee
	isElement
)

// isBroken reports whether the code of controller-tools for a value of a type would not compile: it writes types without their arguments, and
// calls methods that do not exist. within are the types around it, in whose code it does not end if they contain themselves.
func (s *copySource) isBroken(pkg *loader.Package, t types.Type, as use, within []types.Type) bool {
	_, isAlias := t.(*types.Alias)
	switch typed := types.Unalias(t).(type) {
	case *types.Named:
		method := declaredMethod(pkg, typed)
		_, isStruct := typed.Underlying().(*types.Struct)
		switch {
		case len(typeArguments(typed)) > 0 && as == isFieldType:
			return method == "" && !(isStruct && isShallow(typed) && !isAlias)
		case len(typeArguments(typed)) > 0 && as == isPointee:
			return !hasDeepCopy(pkg, typed)
		case len(typeArguments(typed)) > 0:
			return true
		case method != "" || !isStruct && isShallow(typed):
			return false
		case isStruct:
			return (!isShallow(typed) || isAlias && as == isFieldType) && !s.hasMethods(pkg, typed)
		}
		if pointer, ok := typed.Underlying().(*types.Pointer); ok { // which can have no methods
			return !isShallow(pointer.Elem())
		}
		return slices.Contains(within, types.Type(typed)) || s.isBroken(pkg, typed.Underlying(), isElement, append(within, typed))
	case *types.Struct:
		return as != isFieldType || isAlias || !isShallow(typed)
	case *types.Pointer:
		return s.isBroken(pkg, typed.Elem(), isPointee, within)
	case *types.Slice:
		return s.isBroken(pkg, typed.Elem(), isElement, within)
	case *types.Map:
		_, isAlias := typed.Key().(*types.Alias) // which controller-tools does not copy
		return isAlias || len(typeArguments(types.Unalias(typed.Key()))) > 0 || s.isBroken(pkg, typed.Elem(), isElement, within)
	}
	return false
}

// hasDeepCopy reports whether a type has a method DeepCopy in the source.
func hasDeepCopy(from *loader.Package, t types.Type) bool {
	obj, index, _ := types.LookupFieldOrMethod(t, true, from.Types, "DeepCopy")
	return obj != nil && len(index) == 1
}

// isShallow reports whether an assignment copies a type.
func isShallow(t types.Type) bool {
	switch typed := t.Underlying().(type) {
	case *types.Basic:
		return typed.Kind() != types.Invalid && typed.Kind() != types.UnsafePointer
	case *types.Struct:
		for field := range typed.Fields() {
			if !isShallow(field.Type()) {
				return false
			}
		}
		return true
	}
	return false
}
