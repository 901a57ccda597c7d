package codegen

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// checkTypes reports the first type that is nested too deep, or else the first that has too many fields.
func checkTypes(sources []source) {
	types := declaredTypes(sources)
	depth, fields := func(s typeShape) int { return s.depth }, func(s typeShape) int { return s.fields }
	for _, t := range types {
		if t.measure(0).depth > maxTypeDepth {
			t.report(t.spec.Pos(), fmt.Sprintf("type %s is nested more than %d levels deep", t.path(depth), maxTypeDepth))
			return
		}
	}
	for _, t := range types {
		if t.measure(0).fields > maxStructFields {
			_, part := t.largestPart(fields)
			for part != nil && part.measure(0).fields > maxStructFields {
				t = part
				_, part = t.largestPart(fields)
			}
			t.report(t.spec.Pos(), fmt.Sprintf("type %s has more than %d fields, counting the structs in it",
				t.path(fields), maxStructFields))
			return
		}
	}
}

// A declaredType is a type declaration.
type declaredType struct {
	spec   *ast.TypeSpec
	file   *fileTypes
	report func(token.Pos, string)
	// shape is the zero value until the type is measured.
	shape    typeShape
	measured bool
}

// fileTypes are the type declarations that the names in a file refer to.
type fileTypes struct{ scope[declaredType] }

// typeShape is the shape of a type, with the types that it refers to.
type typeShape struct {
	// depth is the nesting depth.
	depth int
	// fields is the number of fields, not counting fields behind slices, maps and pointers that aren't inlined. It is at most
	// 1+maxStructFields.
	fields int
}

// declaredTypes returns the type declarations of packages.
func declaredTypes(sources []source) []*declaredType {
	var all []*declaredType
	byPath, names := map[string]map[string]*declaredType{}, map[string]string{}
	for _, pkg := range sources {
		byPath[pkg.path] = map[string]*declaredType{}
		if len(pkg.trees) > 0 {
			names[pkg.path] = pkg.trees[0].Name.Name
		}
	}
	for _, pkg := range sources {
		files := make([]*fileTypes, len(pkg.trees))
		for i, tree := range pkg.trees {
			files[i] = &fileTypes{newScope(tree, byPath[pkg.path], func(importPath string) (map[string]*declaredType, string) {
				return byPath[importPath], names[importPath]
			})}
		}
		for i, spec := range typeSpecs(pkg.trees...) {
			t := &declaredType{spec: spec, file: files[i], report: pkg.report}
			files[i].local[spec.Name.Name] = t
			all = append(all, t)
		}
	}
	return all
}

// measure returns the shape of a type that is nested in level others. A reference of a type to itself has the zero shape.
func (t *declaredType) measure(level int) typeShape {
	if !t.measured {
		t.measured = true
		t.shape = t.file.measure(t.spec.Type, level)
	}
	return t.shape
}

// measure returns the shape of a type expression that is nested in level others, down to maxTypeDepth.
func (f *fileTypes) measure(expr ast.Expr, level int) typeShape {
	shape := typeShape{depth: 1}
	if level > maxTypeDepth {
		return shape
	}
	// part adds the depth of a part, and returns the number of its fields.
	part := func(expr ast.Expr) int {
		inner := f.measure(expr, level+1)
		shape.depth = max(shape.depth, 1+inner.depth)
		return inner.fields
	}
	parts := func(list *ast.FieldList) {
		if list == nil {
			return
		}
		for _, field := range list.List {
			expr := field.Type
			isInline := len(field.Names) == 0 || field.Tag != nil && strings.Contains(field.Tag.Value, ",inline")
			if star, ok := expr.(*ast.StarExpr); ok && isInline {
				expr = star.X // in JSON, it has the struct's fields
			}
			shape.fields = min(shape.fields+max(1, len(field.Names))*(1+part(expr)), 1+maxStructFields)
		}
	}
	switch e := expr.(type) {
	case *ast.Ident, *ast.SelectorExpr:
		if t := f.find(e); t != nil {
			inner := t.measure(level + 1)
			return typeShape{1 + inner.depth, inner.fields}
		}
	case *ast.ParenExpr:
		shape.fields = part(e.X)
	case *ast.ArrayType:
		if fields := part(e.Elt); e.Len != nil {
			shape.fields = fields
			shape.depth = max(shape.depth, nodeDepth(e.Len))
		}
	case *ast.StructType:
		parts(e.Fields)
	case *ast.StarExpr:
		part(e.X)
	case *ast.MapType:
		part(e.Key)
		part(e.Value)
	case *ast.ChanType:
		part(e.Value)
	case *ast.FuncType:
		parts(e.Params)
		parts(e.Results)
		shape.fields = 0
	case *ast.InterfaceType:
		parts(e.Methods)
		shape.fields = 0
	case *ast.IndexExpr:
		shape.fields = part(e.X)
		shape.fields = min(shape.fields*(1+part(e.Index)), 1+maxStructFields)
	case *ast.IndexListExpr:
		shape.fields = part(e.X)
		for _, index := range e.Indices {
			shape.fields = min(shape.fields*(1+part(index)), 1+maxStructFields)
		}
	default:
		shape.depth = nodeDepth(expr)
	}
	return shape
}

// path returns the start of the path along which a measure of a type is largest, such as Type.Field.Field.
func (t *declaredType) path(measure func(typeShape) int) string {
	path := t.spec.Name.Name
	for range 4 {
		field, part := t.largestPart(measure)
		if path += field; part == nil {
			return path
		}
		t = part
	}
	return path + "…"
}

// largestPart returns the field of a struct with the largest measure, after a dot, and its type. The field is empty for
// other types, and the type is nil if the packages do not declare it.
func (t *declaredType) largestPart(measure func(typeShape) int) (string, *declaredType) {
	structure, ok := t.spec.Type.(*ast.StructType)
	if !ok || len(structure.Fields.List) == 0 {
		return "", t.file.find(element(t.spec.Type))
	}
	field := slices.MaxFunc(structure.Fields.List, func(a, b *ast.Field) int {
		return measure(t.file.measure(a.Type, 0)) - measure(t.file.measure(b.Type, 0))
	})
	name := typeName(field.Type)
	if len(field.Names) > 0 {
		name = field.Names[0].Name
	}
	return "." + name, t.file.find(element(field.Type))
}

// element returns the type of the elements of pointers, slices and maps.
func element(expr ast.Expr) ast.Expr {
	for {
		switch e := expr.(type) {
		case *ast.ParenExpr:
			expr = e.X
		case *ast.StarExpr:
			expr = e.X
		case *ast.ArrayType:
			expr = e.Elt
		case *ast.MapType:
			expr = e.Value
		default:
			return expr
		}
	}
}
