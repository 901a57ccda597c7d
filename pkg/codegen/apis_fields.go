package codegen

import (
	"cmp"
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"strings"
)

// A nestedStruct is a struct in spec or status.
type nestedStruct struct {
	in        *parsedPackage
	structure *ast.StructType
	// prefix is the path of the struct with a trailing dot, or empty.
	prefix string
	// enclosing are the structs that contain it, so that a type that contains itself is entered once.
	enclosing []*ast.StructType
}

// maxFields limits the fields of a kind: types that refer to each other in many ways have very many paths.
const maxFields = 20_000

// nestedFields returns the fields in a field of a kind, by depth.
func (r *apiReader) nestedFields(t *apiType, field *ast.Field) []APIField {
	fields := []APIField{}
	next := r.structs(nestedStruct{in: t.in}, field.Type, "")
	for len(next) > 0 {
		var deeper []nestedStruct
		for _, s := range next {
			for _, f := range s.structure.Fields.List {
				if len(fields) > maxFields {
					problem := fmt.Sprintf("more than %d fields; those nested deeper are left out", maxFields)
					r.warnings = append(r.warnings, r.at(field.Pos(), problem))
					return fields
				}
				found, nested := r.field(s, f)
				fields = append(fields, found...)
				deeper = append(deeper, nested...)
			}
		}
		next = deeper
	}
	return fields
}

// field returns the fields of a declaration in a struct, and the structs in them.
func (r *apiReader) field(in nestedStruct, f *ast.Field) ([]APIField, []nestedStruct) {
	tag := jsonTag(f)
	if tag == "-" {
		return nil, nil // not part of the JSON
	}
	name, options, _ := strings.Cut(tag, ",")
	var names []string
	for _, id := range f.Names {
		names = append(names, id.Name)
	}
	embedded := names == nil
	if embedded {
		names = []string{typeName(f.Type)}
	}
	inline := embedded && name == "" || slices.Contains(strings.Split(options, ","), "inline")
	var fields []APIField
	var nested []nestedStruct
	for _, goName := range names {
		if !embedded && !ast.IsExported(goName) {
			continue
		}
		if inline {
			nested = append(nested, r.structs(in, f.Type, strings.TrimSuffix(in.prefix, "."))...)
			continue
		}
		path := in.prefix + cmp.Or(name, goName)
		fields = append(fields, APIField{Path: path, Name: goName, Doc: r.fieldDoc(f), Markers: r.fieldMarkers(in.in, f)})
		nested = append(nested, r.structs(in, f.Type, path)...)
	}
	return fields, nested
}

// structs returns the structs in a type expression at a path. Elements of a list have the index [0]; values of a map have no
// path, as the keys are not known, so that only a warning is added.
func (r *apiReader) structs(from nestedStruct, t ast.Expr, path string) []nestedStruct {
	enter := func(in *parsedPackage, s *ast.StructType) []nestedStruct {
		if slices.Contains(from.enclosing, s) {
			return nil
		}
		prefix := path
		if prefix != "" {
			prefix += "."
		}
		return []nestedStruct{{in: in, structure: s, prefix: prefix, enclosing: append(slices.Clone(from.enclosing), s)}}
	}
	switch t := t.(type) {
	case *ast.StructType:
		return enter(from.in, t)
	case *ast.ParenExpr:
		return r.structs(from, t.X, path)
	case *ast.StarExpr:
		return r.structs(from, t.X, path)
	case *ast.ArrayType:
		if path == "" {
			return r.structs(from, t.Elt, path)
		}
		return r.structs(from, t.Elt, path+"[0]")
	case *ast.MapType:
		for _, value := range r.structs(from, t.Value, path) {
			r.warnUnreachable(t, value, strings.TrimSpace("the values of map "+path)+" have no path")
		}
		return nil
	case *ast.IndexExpr:
		return append(r.structs(from, t.X, path), r.structs(from, t.Index, path)...)
	case *ast.IndexListExpr:
		found := r.structs(from, t.X, path)
		for _, index := range t.Indices {
			found = append(found, r.structs(from, index, path)...)
		}
		return found
	}
	switch target := r.typeOf(from.in, t); {
	case target == nil:
	case target.structure != nil:
		return enter(target.in, target.structure)
	case !r.warned[target]: // a name of a list, a map or another type, whose elements operator-sdk does not read
		r.warned[target] = true
		for _, nested := range r.structs(nestedStruct{in: target.in, enclosing: from.enclosing}, target.info.RawSpec.Type, path) {
			r.warnUnreachable(t, nested, "type "+target.info.Name+" is not a struct; use its underlying type in the field")
		}
	}
	return nil
}

// warnUnreachable adds a warning if the fields of a struct have markers, which have no effect in a type.
func (r *apiReader) warnUnreachable(from ast.Expr, to nestedStruct, why string) {
	for _, f := range to.structure.Fields.List {
		if len(csvMarkerPositions(f.Doc)) > 0 {
			problem := "markers +" + csvMarker + " on fields of the elements have no effect: " + why
			r.warnings = append(r.warnings, r.at(from.Pos(), problem))
			return
		}
	}
}

// typeOf returns the declaration that an identifier or qualified identifier refers to, or nil.
func (r *apiReader) typeOf(in *parsedPackage, t ast.Expr) *apiType {
	for _, tree := range in.trees {
		if tree.FileStart <= t.Pos() && t.Pos() <= tree.FileEnd {
			return newScope(tree, r.types[in], func(importPath string) (map[string]*apiType, string) {
				pkg := r.byPath[importPath]
				if pkg == nil || len(pkg.trees) == 0 {
					return nil, ""
				}
				return r.types[pkg], pkg.trees[0].Name.Name
			}).find(t)
		}
	}
	return nil
}

// fieldDoc returns the comment of a field as controller-tools reads it. For fields of structs without a name, which it does
// not read, the comment is processed in the same way.
func (r *apiReader) fieldDoc(f *ast.Field) string {
	if doc, ok := r.docs[f]; ok || f.Doc == nil {
		return doc
	}
	var text ast.CommentGroup
	for _, comment := range f.Doc.List {
		if body, ok := strings.CutPrefix(comment.Text, "//"); !ok || !strings.HasPrefix(strings.TrimSpace(body), "+") {
			text.List = append(text.List, comment)
		}
	}
	lines := strings.Split(strings.TrimSuffix(text.Text(), "\n"), "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "TODO") }), "\n")
}

func (r *apiReader) fieldMarkers(in *parsedPackage, f *ast.Field) []FieldMarker {
	values, err := r.collector.MarkersInPackage(in.view)
	if err != nil {
		return nil
	}
	var list []FieldMarker
	for _, value := range values[f][csvMarker] {
		if m, ok := value.(FieldMarker); ok {
			list = append(list, m)
		}
	}
	return list
}

// typeName returns the name of an embedded field.
func typeName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.StarExpr:
		return typeName(t.X)
	case *ast.SelectorExpr:
		return t.Sel.Name
	case *ast.IndexExpr:
		return typeName(t.X)
	case *ast.IndexListExpr:
		return typeName(t.X)
	}
	return ""
}

// tagProblem returns the problem of a struct tag in the source, or "".
func tagProblem(literal string) string {
	const problem = `must consist of pairs such as json:"name"`
	tag, err := strconv.Unquote(literal)
	if err != nil {
		return "must be a string"
	}
	for rest := strings.TrimLeft(tag, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		key, value, ok := strings.Cut(rest, ":")
		if !ok || key == "" || strings.ContainsAny(key, " \"") || !strings.HasPrefix(value, `"`) {
			return problem
		}
		quoted, err := strconv.QuotedPrefix(value)
		if err != nil {
			return problem
		}
		rest = value[len(quoted):]
	}
	return ""
}
