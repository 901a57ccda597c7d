package codegen

import (
	"fmt"
	"go/ast"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// reached is a struct on the way from spec or status to a field.
type reached struct {
	in        *parsed
	structure *ast.StructType
	// prefix is the path of the struct with a dot behind it, or empty.
	prefix string
	// via are the structs around it, so that a type that contains itself is entered once.
	via []*ast.StructType
}

// mostFields is where the fields of a kind end: types that refer to each other in many ways have more paths than
// anybody could want to see.
const mostFields = 20_000

// below lists the fields that can be reached from a field of a kind, nearest first.
func (r *apiReader) below(t *apiType, field *ast.Field) []APIField {
	fields := []APIField{}
	next := r.structs(reached{in: t.in}, field.Type, "", nil)
	for len(next) > 0 {
		var deeper []reached
		for _, here := range next {
			for _, f := range here.structure.Fields.List {
				if len(fields) > mostFields {
					r.warnings = append(r.warnings, r.at(field.Pos(), fmt.Sprintf("more than %d fields lie below: those farther down are left out", mostFields)))
					return fields
				}
				found, inside := r.field(here, f)
				fields = append(fields, found...)
				deeper = append(deeper, inside...)
			}
		}
		next = deeper
	}
	return fields
}

// field gives the fields that a declaration stands for, and the structs inside of them.
func (r *apiReader) field(here reached, f *ast.Field) ([]APIField, []reached) {
	var tag string
	if f.Tag != nil {
		tag, _ = strconv.Unquote(f.Tag.Value)
	}
	name, options, _ := strings.Cut(tagValue(tag, "json"), ",")
	if name == "-" && options == "" && !strings.HasSuffix(tagValue(tag, "json"), ",") {
		return nil, nil // never part of the JSON
	}
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
	var inside []reached
	for _, goName := range names {
		if !embedded && !ast.IsExported(goName) {
			continue
		}
		if inline {
			inside = append(inside, r.structs(here, f.Type, strings.TrimSuffix(here.prefix, "."), here.via)...)
			continue
		}
		segment := name
		if segment == "" {
			segment = goName
		}
		at := here.prefix + segment
		fields = append(fields, APIField{Path: at, Name: goName, Doc: r.docOf(f), Markers: r.fieldMarkers(here.in, f)})
		inside = append(inside, r.structs(here, f.Type, at, here.via)...)
	}
	return fields, inside
}

// structs finds the structs that a type expression leads to. Elements of a list are reached through [0]; the
// values of a map through keys that nobody can know, so there is no path to them, only a warning.
func (r *apiReader) structs(from reached, t ast.Expr, at string, via []*ast.StructType) []reached {
	enter := func(in *parsed, s *ast.StructType) []reached {
		if slices.Contains(via, s) {
			return nil
		}
		prefix := at
		if prefix != "" {
			prefix += "."
		}
		return []reached{{in: in, structure: s, prefix: prefix, via: append(slices.Clone(via), s)}}
	}
	switch t := t.(type) {
	case *ast.StructType:
		return enter(from.in, t)
	case *ast.ParenExpr:
		return r.structs(from, t.X, at, via)
	case *ast.StarExpr:
		return r.structs(from, t.X, at, via)
	case *ast.ArrayType:
		if at == "" {
			return r.structs(from, t.Elt, at, via)
		}
		return r.structs(from, t.Elt, at+"[0]", via)
	case *ast.MapType:
		for _, value := range r.structs(from, t.Value, at, via) {
			r.warnUnreachable(t, value, strings.TrimSpace("no path leads to the values of the map "+at))
		}
		return nil
	case *ast.IndexExpr:
		return append(r.structs(from, t.X, at, via), r.structs(from, t.Index, at, via)...)
	case *ast.IndexListExpr:
		found := r.structs(from, t.X, at, via)
		for _, index := range t.Indices {
			found = append(found, r.structs(from, index, at, via)...)
		}
		return found
	}
	switch target := r.typeOf(from.in, t); {
	case target == nil:
	case target.structure != nil:
		return enter(target.in, target.structure)
	case !r.passed[target]: // a name for a list, a map or another type, which operator-sdk does not look behind
		r.passed[target] = true
		for _, behind := range r.structs(reached{in: target.in}, target.info.RawSpec.Type, at, via) {
			r.warnUnreachable(t, behind, fmt.Sprintf("the type %s is no struct: name what it stands for in the field itself to reach what is behind it", target.info.Name))
		}
	}
	return nil
}

// warnUnreachable tells that the markers on the fields of a struct have no effect where a type leads to it.
func (r *apiReader) warnUnreachable(from ast.Expr, to reached, why string) {
	for _, f := range to.structure.Fields.List {
		if len(csvComments(f.Doc)) > 0 {
			r.warnings = append(r.warnings, r.at(from.Pos(), "markers +"+csvMarker+" on fields behind this have no effect: "+why))
			return
		}
	}
}

// typeOf finds the declaration that an identifier, alone or behind a package's name, refers to.
func (r *apiReader) typeOf(in *parsed, t ast.Expr) *apiType {
	switch t := t.(type) {
	case *ast.Ident:
		if found := r.types[in][t.Name]; found != nil {
			return found
		}
		for _, imported := range r.importedAs(in, t, ".") {
			if found := r.types[imported][t.Name]; found != nil {
				return found
			}
		}
	case *ast.SelectorExpr:
		if id, ok := t.X.(*ast.Ident); ok {
			for _, imported := range r.importedAs(in, t, id.Name) {
				return r.types[imported][t.Sel.Name]
			}
		}
	}
	return nil
}

// importedAs finds the packages of the project that the file around an expression imports by a name.
func (r *apiReader) importedAs(in *parsed, at ast.Expr, name string) []*parsed {
	var found []*parsed
	for _, tree := range in.trees {
		if at.Pos() < tree.FileStart || at.Pos() > tree.FileEnd {
			continue
		}
		for _, spec := range tree.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil || r.byPath[target] == nil || len(r.byPath[target].trees) == 0 {
				continue
			}
			known := r.byPath[target].trees[0].Name.Name
			if spec.Name != nil {
				known = spec.Name.Name
			}
			if known == name {
				found = append(found, r.byPath[target])
			}
		}
	}
	return found
}

// docOf is the comment of a field as controller-tools reads it. It reads none of fields in structs without a
// name, whose comments are taken alike.
func (r *apiReader) docOf(f *ast.Field) string {
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

// fieldMarkers are the markers of a field.
func (r *apiReader) fieldMarkers(in *parsed, f *ast.Field) []FieldMarker {
	values, err := r.collector.MarkersInPackage(in.view)
	if err != nil {
		return nil
	}
	var list []FieldMarker
	for _, value := range values[f][csvMarker] {
		if m, ok := value.(fieldArguments); ok {
			list = append(list, FieldMarker{Type: m.Type, DisplayName: m.DisplayName, Path: m.Path, XDescriptors: m.XDescriptors, Order: m.Order})
		}
	}
	return list
}

// typeName is the name of an embedded field.
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

// tagValue is the value of a key of a struct tag.
func tagValue(tag, key string) string { return reflect.StructTag(tag).Get(key) }

// tagProblem says what is wrong with a struct tag as written, or nothing.
func tagProblem(written string) string {
	tag, err := strconv.Unquote(written)
	if err != nil {
		return "it is not a string"
	}
	for rest := strings.TrimLeft(tag, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		key, value, ok := strings.Cut(rest, ":")
		if !ok || key == "" || strings.ContainsAny(key, " \"") || !strings.HasPrefix(value, `"`) {
			return `it must consist of pairs such as json:"name"`
		}
		quoted, err := strconv.QuotedPrefix(value)
		if err != nil {
			return `it must consist of pairs such as json:"name"`
		}
		rest = value[len(quoted):]
	}
	return ""
}
