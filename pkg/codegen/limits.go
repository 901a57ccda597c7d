package codegen

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"text/scanner"

	"sigs.k8s.io/controller-tools/pkg/markers"
)

// Limits of the source. What controller-tools does with a marker or a type takes time and memory that grow with the square
// of the nesting and of the number of values, or worse. etcd accepts objects of up to 1.5 MiB; the largest CRDs in use have
// markers of a few KiB with about a thousand values, and types that are nested less than 50 levels deep.
const (
	maxMarkerLength = 256 << 10
	maxMarkerDepth  = 100
	maxMarkerValues = 10_000
	// maxMarkerSteps is the limit of the sum of values * (values + 1000) over all markers: the parser's time grows with the
	// square of the values of a marker, its memory with the values of all. Generated APIs have thousands of markers with a few
	// values each.
	maxMarkerSteps = 500_000_000
	maxTypeDepth   = 1000
	// maxStructFields is the limit of the fields of a struct, with those of the structs in it.
	maxStructFields = 100_000
	// maxValueDepth is the limit of operators in the value of a constant or variable.
	maxValueDepth = 10_000
)

// source is a package whose syntax is to be checked.
type source struct {
	path   string
	trees  []*ast.File
	report func(token.Pos, string)
}

// checkLimits reports the markers, types and values that exceed a limit. It is to be called before controller-tools and the
// type checker read them.
func checkLimits(registry *markers.Registry, sources []source) {
	steps := 0
	for _, one := range sources {
		for _, tree := range one.trees {
			for _, group := range tree.Comments {
				for _, comment := range group.List {
					if problem := checkMarker(registry, comment.Text, &steps); problem != "" {
						one.report(comment.Pos()+token.Pos(strings.IndexByte(comment.Text, '+')), problem)
					}
				}
			}
			for _, decl := range tree.Decls {
				if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok != token.TYPE && nodeDepth(gen) > maxValueDepth {
					one.report(gen.Pos(), fmt.Sprintf("the value is nested more than %d levels deep", maxValueDepth))
				}
			}
		}
	}
	checkTypes(sources)
}

// checkMarker returns the limit that a comment exceeds, if it is a marker. It adds to the steps of all markers.
func checkMarker(registry *markers.Registry, comment string, steps *int) string {
	body, ok := strings.CutPrefix(comment, "//")
	text := strings.TrimSpace(body)
	if !ok || len(text) <= maxMarkerDepth || text[0] != '+' || !isMarker(registry, text) {
		return "" // nothing shorter can exceed a limit
	}
	depth, values, added := 0, 0, 0
	if len(text) <= maxMarkerLength {
		depth, values = shape(text)
		added = values * (values + 1000)
		*steps += added
	}
	problem := ""
	switch {
	case len(text) > maxMarkerLength:
		problem = fmt.Sprintf("the marker is longer than %d KiB", maxMarkerLength>>10)
	case depth > maxMarkerDepth:
		problem = fmt.Sprintf("braces are nested more than %d levels deep", maxMarkerDepth)
	case values > maxMarkerValues:
		problem = fmt.Sprintf("%d values; a marker can have at most %d", values, maxMarkerValues)
	case *steps > maxMarkerSteps && *steps-added <= maxMarkerSteps: // once
		problem = fmt.Sprintf("parsing the values of the markers up to here takes more than %d steps; divide the longest lists", maxMarkerSteps)
	default:
		return ""
	}
	name, _, _ := strings.Cut(text, "=")
	return "marker " + shorten(name) + ": " + problem
}

// isMarker reports whether a registry has a definition of a marker.
func isMarker(registry *markers.Registry, text string) bool {
	for _, target := range []markers.TargetType{markers.DescribesPackage, markers.DescribesType, markers.DescribesField} {
		if registry.Lookup(text, target) != nil {
			return true
		}
	}
	return false
}

// shape returns how deep the braces in the arguments of a marker are nested, and the number of values. The tokens are those
// of the parser in package markers.
func shape(text string) (depth, values int) {
	_, arguments, ok := strings.Cut(text, "=")
	if !ok {
		return 0, 0
	}
	var s scanner.Scanner
	s.Init(bytes.NewBufferString(arguments))
	s.Mode = scanner.ScanIdents | scanner.ScanInts | scanner.ScanFloats | scanner.ScanStrings | scanner.ScanRawStrings | scanner.SkipComments
	s.Error = func(*scanner.Scanner, string) {}
	open := 0
	values = 1
	for token := s.Scan(); token != scanner.EOF; token = s.Scan() {
		switch token {
		case '{':
			open++
			depth = max(depth, open)
		case '}':
			open--
		case ',', ';', ':':
			values++
		}
	}
	return depth, values
}

// shorten cuts a name that is too long for a message.
func shorten(name string) string {
	const most = 100
	if len(name) > most {
		return strings.ToValidUTF8(name[:most], "") + "…"
	}
	return name
}

// nodeDepth returns how deep a syntax tree is.
func nodeDepth(root ast.Node) int {
	depth, deepest := 0, 0
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			depth--
			return false
		}
		depth++
		deepest = max(deepest, depth)
		return true
	})
	return deepest
}

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
			for _, part := t.largestPart(fields); part != nil && part.measure(0).fields > maxStructFields; _, part = t.largestPart(fields) {
				t = part
			}
			t.report(t.spec.Pos(), fmt.Sprintf("type %s has more than %d fields, with those of the structs in it", t.path(fields), maxStructFields))
			return
		}
	}
}

// declaredType is a type declaration.
type declaredType struct {
	spec   *ast.TypeSpec
	file   *fileTypes
	report func(token.Pos, string)
	// shape is the zero value until the type is measured.
	shape    typeShape
	measured bool
}

// fileTypes finds the type declarations that the names in a file refer to.
type fileTypes struct {
	own      map[string]*declaredType
	imported map[string]map[string]*declaredType // by the name of the package
	dots     []map[string]*declaredType          // of imports with the name "."
}

// typeShape is the shape of a type, with the types that it refers to.
type typeShape struct {
	// depth is how deep it is nested.
	depth int
	// fields is the number of its fields, without those behind slices, maps and pointers that are not inlined. It ends behind
	// maxStructFields.
	fields int
}

// declaredTypes returns the type declarations of packages.
func declaredTypes(sources []source) []*declaredType {
	var all []*declaredType
	byPath, names := map[string]map[string]*declaredType{}, map[string]string{}
	files := map[*ast.File]*fileTypes{}
	for _, one := range sources {
		own := map[string]*declaredType{}
		byPath[one.path] = own
		for _, tree := range one.trees {
			names[one.path] = tree.Name.Name
			files[tree] = &fileTypes{own: own, imported: map[string]map[string]*declaredType{}}
			for _, decl := range tree.Decls {
				gen, ok := decl.(*ast.GenDecl)
				if !ok || gen.Tok != token.TYPE {
					continue
				}
				for _, spec := range gen.Specs {
					t := &declaredType{spec: spec.(*ast.TypeSpec), file: files[tree], report: one.report}
					own[t.spec.Name.Name] = t
					all = append(all, t)
				}
			}
		}
	}
	for tree, file := range files {
		for _, spec := range tree.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil || byPath[target] == nil {
				continue
			}
			switch {
			case spec.Name == nil:
				file.imported[names[target]] = byPath[target]
			case spec.Name.Name == ".":
				file.dots = append(file.dots, byPath[target])
			default:
				file.imported[spec.Name.Name] = byPath[target]
			}
		}
	}
	return all
}

// find returns the declaration that a type expression names, or nil.
func (f *fileTypes) find(expr ast.Expr) *declaredType {
	switch e := expr.(type) {
	case *ast.Ident:
		if t := f.own[e.Name]; t != nil {
			return t
		}
		for _, types := range f.dots {
			if t := types[e.Name]; t != nil {
				return t
			}
		}
	case *ast.SelectorExpr:
		if id, ok := e.X.(*ast.Ident); ok {
			return f.imported[id.Name][e.Sel.Name]
		}
	}
	return nil
}

// measure returns the shape of a type that is nested in level others. That of a type that refers to itself is empty where it
// does.
func (t *declaredType) measure(level int) typeShape {
	if !t.measured {
		t.measured = true
		t.shape = t.file.measure(t.spec.Type, level)
	}
	return t.shape
}

// measure returns the shape of a type expression that is nested in level others. It does not go deeper than maxTypeDepth.
func (f *fileTypes) measure(expr ast.Expr, level int) typeShape {
	shape := typeShape{depth: 1}
	if level > maxTypeDepth {
		return shape
	}
	// part adds the depth of a part, and returns its fields.
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
			if star, ok := expr.(*ast.StarExpr); ok && (len(field.Names) == 0 || field.Tag != nil && strings.Contains(field.Tag.Value, ",inline")) {
				expr = star.X // in JSON its fields are those of the struct
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

// path returns the beginning of the path along which a measure of a type is largest, as in Type.Field.Field.
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

// largestPart returns the field to which a measure of a struct is due, with a dot before its name, and the type of it. The
// field is empty for other types, and the type is nil if the packages do not declare it.
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

// element returns the type that pointers, slices and maps lead to.
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
