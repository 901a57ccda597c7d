package codegen

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	toolscrd "sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// A typeInstance is an instance of a generic type, as a type of the package that uses it.
type typeInstance struct {
	ident toolscrd.TypeIdent
	// forged is the type without arguments that stands for it.
	forged types.Type
	// origin is the package of the generic type.
	origin *loader.Package
	// structure is set for a struct; right is the right side of any other type's declaration.
	structure *types.Struct
	right     types.Type
}

// maxTypeArguments limits the types in the arguments of a generic type, which can grow with each instance in it.
const maxTypeArguments = 50

// instance returns the instance of a generic type in a package that uses it, or nil after it has reported a problem.
func (s *schemaTypes) instance(in *loader.Package, t types.Type, from place) *typeInstance {
	if typeSize(t, maxTypeArguments) > maxTypeArguments {
		s.problem(from, t, "it refers to ever larger instances of itself", "let it refer only to instances with the same type arguments")
		return nil
	}
	key := in.PkgPath + " " + types.TypeString(t, nil)
	if found := s.instances[key]; found != nil {
		return found
	}
	obj := t.(interface{ Obj() *types.TypeName }).Obj()
	pkg := s.index.find(obj.Pkg().Path())
	if pkg == nil {
		return nil
	}
	s.parser.NeedPackage(pkg)
	info := s.parser.Types[toolscrd.TypeIdent{Package: pkg, Name: obj.Name()}]
	if info == nil {
		return nil
	}
	name := types.TypeString(t, (*types.Package).Name)
	for i := 2; s.parser.Types[toolscrd.TypeIdent{Package: in, Name: name}] != nil; i++ {
		name = fmt.Sprintf("%s (%d)", types.TypeString(t, (*types.Package).Name), i)
	}
	made := &typeInstance{ident: toolscrd.TypeIdent{Package: in, Name: name}, origin: pkg}
	made.forged = types.NewNamed(types.NewTypeName(obj.Pos(), in.Types, name, nil), t.Underlying(), nil)
	right := pkg.TypesInfo.TypeOf(info.RawSpec.Type)
	if _, isStruct := right.(*types.Struct); isStruct {
		made.structure, _ = t.Underlying().(*types.Struct)
	}
	made.right = substitute(right, typeParameters(t), typeArguments(t))
	concrete, spec := *info, *info.RawSpec
	spec.TypeParams = nil
	concrete.Name, concrete.RawSpec = name, &spec
	concrete.Fields = s.withDefaultOf(pkg, in, info.Fields)
	s.parser.Types[made.ident] = &concrete
	in.Types.Scope().Insert(types.NewTypeName(obj.Pos(), in.Types, name, t)) // so that its methods are found
	s.instances[key], s.byIdent[made.ident] = made, made
	return made
}

// withDefaultOf returns fields that are declared in one package and used in another, required or optional by the rule of their own package.
func (s *schemaTypes) withDefaultOf(declared, used *loader.Package, fields []markers.FieldInfo) []markers.FieldInfo {
	const optional, required = "kubebuilder:validation:Optional", "kubebuilder:validation:Required"
	isOptional := func(pkg *loader.Package) bool {
		values, err := markers.PackageMarkers(s.parser.Collector, pkg)
		return err == nil && values.Get(optional) != nil
	}
	was, is := isOptional(declared), isOptional(used)
	fields = slices.Clone(fields)
	for i, field := range fields {
		if was == is || slices.ContainsFunc([]string{optional, required, "optional", "required", "k8s:optional", "k8s:required"}, func(name string) bool {
			return field.Markers.Get(name) != nil
		}) {
			continue
		}
		name := optional
		if is {
			if isOptionalTag(field) {
				continue
			}
			name = required
		}
		fields[i].Markers = markers.MarkerValues{name: {struct{}{}}}
		for other, values := range field.Markers {
			fields[i].Markers[other] = values
		}
	}
	return fields
}

func isOptionalTag(field markers.FieldInfo) bool {
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name == "" || slices.ContainsFunc(strings.Split(options, ","), func(option string) bool {
		return slices.Contains([]string{"inline", "omitempty", "omitzero"}, option)
	})
}

// typeArguments returns the arguments of an instance of a generic type or alias.
func typeArguments(t types.Type) []types.Type {
	if typed, ok := t.(interface{ TypeArgs() *types.TypeList }); ok && typed.TypeArgs().Len() > 0 {
		return slices.Collect(typed.TypeArgs().Types())
	}
	return nil
}

// typeParameters returns the parameters that the arguments of an instance replace.
func typeParameters(t types.Type) []*types.TypeParam {
	if typed, ok := t.(interface{ TypeParams() *types.TypeParamList }); ok {
		return slices.Collect(typed.TypeParams().TypeParams())
	}
	return nil
}

// substitute replaces type parameters by arguments in a type that is the right side of a declaration. Structs come from go/types, which
// has replaced the parameters in them.
func substitute(t types.Type, params []*types.TypeParam, args []types.Type) types.Type {
	inner := func(t types.Type) types.Type { return substitute(t, params, args) }
	switch typed := t.(type) {
	case *types.TypeParam:
		if i := slices.Index(params, typed); i >= 0 {
			return args[i]
		}
	case *types.Pointer:
		return types.NewPointer(inner(typed.Elem()))
	case *types.Slice:
		return types.NewSlice(inner(typed.Elem()))
	case *types.Array:
		return types.NewArray(inner(typed.Elem()), typed.Len())
	case *types.Map:
		return types.NewMap(inner(typed.Key()), inner(typed.Elem()))
	case *types.Named, *types.Alias:
		var replaced []types.Type
		for _, arg := range typeArguments(typed) {
			replaced = append(replaced, inner(arg))
		}
		if len(replaced) == 0 {
			return t
		}
		var origin types.Type
		if alias, ok := typed.(*types.Alias); ok {
			origin = alias.Origin()
		} else {
			origin = typed.(*types.Named).Origin()
		}
		if instance, err := types.Instantiate(nil, origin, replaced, false); err == nil {
			return instance
		}
	}
	return t
}

// typeSize returns the number of types in the arguments of a type, or more than limit.
func typeSize(t types.Type, limit int) int {
	size := 1
	for _, part := range append(typeArguments(t), elements(t)...) {
		if size > limit {
			break
		}
		size += typeSize(part, limit-size)
	}
	return size
}

// elements returns the types of which a type without a name consists.
func elements(t types.Type) []types.Type {
	switch typed := t.(type) {
	case *types.Pointer:
		return []types.Type{typed.Elem()}
	case *types.Slice:
		return []types.Type{typed.Elem()}
	case *types.Array:
		return []types.Type{typed.Elem()}
	case *types.Map:
		return []types.Type{typed.Key(), typed.Elem()}
	}
	return nil
}
