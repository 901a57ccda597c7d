package codegen

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	toolscrd "sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// schemaTypes prepares the types of kinds for controller-tools, which reads them from the syntax and supports neither generic types nor aliases
// of them: each instance of a generic type becomes a type of its own in the package that uses it. A field whose type has no schema is a problem,
// because controller-tools reports it in other files, several times, or panics.
type schemaTypes struct {
	parser *toolscrd.Parser
	// isLocal reports whether a package belongs to the project, so that problems can be reported in it.
	isLocal  func(*loader.Package) bool
	problems []typeProblem
	next     []reachedType
	seen     map[toolscrd.TypeIdent]bool
	// instances are the types that instances of generic types have become, by the package that uses them and their name there.
	instances map[string]*typeInstance
	byIdent   map[toolscrd.TypeIdent]*typeInstance
	index     *packageIndex
	// made are the expressions of the current type. isOther reports whether they differ from the source.
	made    map[ast.Expr]types.Type
	isOther bool
}

// A reachedType is a type with the place in the project that refers to it.
type reachedType struct {
	ident toolscrd.TypeIdent
	from  place
}

// prepareTypes prepares the types of kinds.
func prepareTypes(parser *toolscrd.Parser, roots []*loader.Package, idents []toolscrd.TypeIdent, isLocal func(*loader.Package) bool) *schemaTypes {
	if isLocal == nil {
		isLocal = func(pkg *loader.Package) bool { return slices.Contains(roots, pkg) }
	}
	s := &schemaTypes{
		parser: parser, index: &packageIndex{roots: roots}, isLocal: isLocal, seen: map[toolscrd.TypeIdent]bool{},
		instances: map[string]*typeInstance{}, byIdent: map[toolscrd.TypeIdent]*typeInstance{},
	}
	for _, ident := range idents {
		s.add(ident, place{})
	}
	for len(s.next) > 0 {
		reached := s.next[0]
		s.next = s.next[1:]
		s.visit(reached.ident, reached.from)
	}
	return s
}

// add adds a type to those that are visited.
func (s *schemaTypes) add(ident toolscrd.TypeIdent, from place) {
	if !s.seen[ident] {
		s.seen[ident] = true
		s.next = append(s.next, reachedType{ident, from})
	}
}

// visit replaces the syntax of a type where controller-tools would not understand it, and visits the types in it.
func (s *schemaTypes) visit(ident toolscrd.TypeIdent, from place) {
	s.parser.NeedPackage(ident.Package)
	info := s.parser.Types[ident]
	if _, known := s.parser.Schemata[ident]; known || info == nil {
		return
	}
	ident.Package.NeedTypesInfo()
	if obj := ident.Package.Types.Scope().Lookup(ident.Name); obj != nil && hasOwnSchema(obj.Type(), info) {
		return
	}
	changed := *info
	instance := s.byIdent[ident]
	isLocal := instance == nil && s.isLocal(ident.Package)
	if _, ok := info.RawSpec.Type.(*ast.StructType); !ok {
		if isLocal {
			from = place{in: ident.Package, at: info.RawSpec.Name.Pos(), subject: "type " + ident.Name}
		}
		t := ident.Package.TypesInfo.TypeOf(info.RawSpec.Type)
		if instance != nil {
			t = instance.right
		}
		if expr := s.rewrite(ident.Package, info.RawSpec.Type, t, from, instance != nil); expr != info.RawSpec.Type {
			spec := *info.RawSpec
			spec.Type = expr
			changed.RawSpec = &spec
			s.parser.Types[ident] = &changed
		}
		return
	}
	if isLocal {
		for _, problem := range nameProblems(ident.Package, info) {
			s.report(problem.place, problem.problem, problem.fix)
		}
	}
	changed.Fields = slices.Clone(info.Fields)
	for i, field := range info.Fields {
		tag, tagged := field.Tag.Lookup("json")
		if tag == "-" || field.Markers.Get("kubebuilder:validation:Schemaless") != nil ||
			s.parser.IgnoreUnexportedFields && field.Name != "" && !ast.IsExported(field.Name) {
			continue
		}
		name := field.Name
		if name == "" {
			name = typeName(field.RawField.Type)
		}
		at := from
		if isLocal {
			at = place{in: ident.Package, at: field.RawField.Pos(), subject: fmt.Sprintf("field %s of %s", name, ident.Name)}
		} else {
			if at.path == "" {
				at.path = ident.Name
				if instance == nil {
					at.path = ident.Package.Name + "." + ident.Name
				}
			}
			at.path += "." + name
		}
		if !tagged {
			if declared := ident.Package; instance != nil && !s.isLocal(instance.origin) || instance == nil && !s.isLocal(declared) {
				s.report(at, at.contains()+" has no JSON tag", foreignFix)
			}
			continue // controller-tools reports it in the project
		}
		t := ident.Package.TypesInfo.TypeOf(field.RawField.Type)
		if instance != nil {
			t = instance.structure.Field(i).Type()
		}
		if isLocal {
			at.whole = t
		}
		if expr := s.rewrite(ident.Package, field.RawField.Type, t, at, instance != nil); expr != field.RawField.Type {
			raw := *field.RawField
			raw.Type = expr
			changed.Fields[i].RawField = &raw
		}
	}
	s.parser.Types[ident] = &changed
}

// hasOwnSchema reports whether controller-tools does not read a type, because it is encoded by methods.
func hasOwnSchema(t types.Type, info *markers.TypeInfo) bool {
	has := func(method string) bool {
		obj, _, _ := types.LookupFieldOrMethod(t, true, nil, method)
		_, ok := obj.(*types.Func)
		return ok
	}
	if has("MarshalJSON") {
		return info.Markers.Get("kubebuilder:validation:Type") != nil
	}
	return has("MarshalText")
}

// rewrite returns an expression for a type in a package that controller-tools understands: the source, unless isForeign is set, which means that the
// source belongs to the generic type.
func (s *schemaTypes) rewrite(in *loader.Package, source ast.Expr, t types.Type, from place, isForeign bool) ast.Expr {
	s.made, s.isOther = map[ast.Expr]types.Type{}, isForeign
	expr := s.expression(in, t, source.Pos(), from)
	ast.Inspect(source, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ParenExpr:
			s.isOther = true
		case *ast.SelectorExpr:
			return false
		case *ast.Ident: // controller-tools panics at a string from an import without a qualifier
			if obj := in.TypesInfo.Uses[n]; obj != nil && obj.Pkg() != nil && obj.Pkg() != in.Types {
				_, isBasic := obj.Type().Underlying().(*types.Basic)
				s.isOther = s.isOther || isBasic
			}
		}
		return true
	})
	if !s.isOther {
		return source
	}
	for node, of := range s.made {
		in.TypesInfo.Types[node] = types.TypeAndValue{Type: of}
	}
	return expr
}

func (s *schemaTypes) expression(in *loader.Package, t types.Type, at token.Pos, from place) ast.Expr {
	var expr ast.Expr
	of := t
	inner := func(t types.Type) ast.Expr { return s.expression(in, t, at, from) }
	switch typed := t.(type) {
	case *types.Pointer:
		expr = &ast.StarExpr{Star: at, X: inner(typed.Elem())}
	case *types.Slice:
		expr = &ast.ArrayType{Lbrack: at, Elt: inner(typed.Elem())}
	case *types.Array:
		expr = &ast.ArrayType{Lbrack: at, Len: &ast.BasicLit{ValuePos: at, Kind: token.INT, Value: fmt.Sprint(typed.Len())}, Elt: inner(typed.Elem())}
	case *types.Map:
		key := types.Unalias(typed.Key())
		s.isOther = s.isOther || key != typed.Key()
		if !isTextKey(key) {
			s.problem(from, typed, keyCause(key), keyFix)
		}
		of = types.NewMap(key, typed.Elem())
		keyExpr := s.name(in, key, at)
		s.made[keyExpr] = key
		expr = &ast.MapType{Map: at, Key: keyExpr, Value: inner(typed.Elem())}
	case *types.Named, *types.Alias:
		expr, of = s.named(in, typed, at, from)
	default:
		expr = s.name(in, t, at)
	}
	if cause, fix := schemaCause(t, s.parser.AllowDangerousTypes); cause != "" {
		s.problem(from, t, cause, fix)
	}
	s.made[expr] = of
	return expr
}

// named returns the expression and the type for a type with a name.
func (s *schemaTypes) named(in *loader.Package, t types.Type, at token.Pos, from place) (ast.Expr, types.Type) {
	obj := t.(interface{ Obj() *types.TypeName }).Obj()
	alias, isAlias := t.(*types.Alias)
	if obj.Pkg() == nil { // error, any
		return s.name(in, t, at), t
	}
	if len(typeArguments(t)) > 0 {
		s.isOther = true
		instance := s.instance(in, t, from)
		if instance == nil {
			return ast.NewIdent(obj.Name()), types.Typ[types.String]
		}
		s.add(instance.ident, from)
		return &ast.Ident{NamePos: at, Name: instance.ident.Name}, instance.forged
	}
	if types.IsInterface(t) {
		return s.name(in, t, at), t
	}
	if obj.Pkg() == in.Types && isAlias {
		switch right := alias.Rhs().(type) {
		case *types.Basic:
		case *types.Named, *types.Alias:
			if _, ok := right.(*types.Named); ok && len(typeArguments(right)) > 0 {
				return s.named(in, right, at, from)
			}
			s.expression(in, right, at, from) // visits it
			return s.name(in, t, at), t
		default:
			return s.aliased(in, alias, at, from)
		}
	}
	pkg := in
	if obj.Pkg() != in.Types {
		if pkg = s.index.find(obj.Pkg().Path()); pkg == nil {
			return s.name(in, t, at), t
		}
	}
	s.add(toolscrd.TypeIdent{Package: pkg, Name: obj.Name()}, from)
	return s.name(in, t, at), t
}

// aliased returns the expression and the type for an alias that controller-tools does not follow: both name a type of its own.
func (s *schemaTypes) aliased(in *loader.Package, alias *types.Alias, at token.Pos, from place) (ast.Expr, types.Type) {
	s.isOther = true
	s.add(toolscrd.TypeIdent{Package: in, Name: alias.Obj().Name()}, from)
	named := types.NewNamed(types.NewTypeName(alias.Obj().Pos(), in.Types, alias.Obj().Name(), nil), alias.Underlying(), nil)
	return s.name(in, alias, at), named
}

// name returns an expression that names a type: in another package with a qualifier, as controller-tools does not follow names from
// imports without one in all cases.
func (s *schemaTypes) name(in *loader.Package, t types.Type, at token.Pos) ast.Expr {
	obj, ok := t.(interface{ Obj() *types.TypeName })
	if !ok {
		return &ast.Ident{NamePos: at, Name: types.TypeString(t, types.RelativeTo(in.Types))}
	}
	name := &ast.Ident{NamePos: at, Name: obj.Obj().Name()}
	if pkg := obj.Obj().Pkg(); pkg == nil || pkg == in.Types {
		return name
	}
	return &ast.SelectorExpr{X: &ast.Ident{NamePos: at, Name: obj.Obj().Pkg().Name()}, Sel: name}
}

// lookup returns the type that a reference in a package means. Unlike controller-tools, it finds types of packages that the package
// imports only indirectly, as instances of generic types refer to them.
func (s *schemaTypes) lookup(ref string, in *loader.Package) (toolscrd.TypeIdent, error) {
	name, importPath, err := toolscrd.RefParts(ref)
	ident := toolscrd.TypeIdent{Package: in, Name: name}
	if err == nil && importPath != "" {
		if ident.Package = in.Imports()[importPath]; ident.Package == nil {
			ident.Package = s.index.find(importPath)
		}
	}
	if err == nil && ident.Package == nil {
		err = fmt.Errorf("package %s of type %s is not imported", importPath, name)
	}
	return ident, err
}
