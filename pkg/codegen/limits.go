package codegen

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
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
	// maxValues is the limit of values in all markers together.
	maxValues    = 100_000
	maxTypeDepth = 1000
	// maxValueDepth is the limit of operators in the value of a constant or variable.
	maxValueDepth = 10_000
)

// sourceLimits checks syntax trees before controller-tools and the type checker read them.
type sourceLimits struct {
	registry *markers.Registry
	// values is the number of values in all markers so far.
	values int
}

// check reports the markers and types of a package that exceed a limit.
func (l *sourceLimits) check(trees []*ast.File, report func(token.Pos, string)) {
	for _, tree := range trees {
		for _, group := range tree.Comments {
			for _, comment := range group.List {
				if problem := l.marker(comment.Text); problem != "" {
					report(comment.Pos()+token.Pos(strings.IndexByte(comment.Text, '+')), problem)
				}
			}
		}
	}
	for _, tree := range trees {
		for _, decl := range tree.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok != token.TYPE && nodeDepth(gen) > maxValueDepth {
				report(gen.Pos(), fmt.Sprintf("the value is nested more than %d levels deep", maxValueDepth))
			}
		}
	}
	if path, spec := tooDeep(trees); spec != nil {
		report(spec.Pos(), fmt.Sprintf("type %s is nested more than %d levels deep", path, maxTypeDepth))
	}
}

// marker returns the limit that a comment exceeds, if it is a marker.
func (l *sourceLimits) marker(comment string) string {
	body, ok := strings.CutPrefix(comment, "//")
	text := strings.TrimSpace(body)
	if !ok || !strings.HasPrefix(text, "+") || !isMarker(l.registry, text) {
		return ""
	}
	depth, values := 0, 0
	if len(text) <= maxMarkerLength {
		if depth, values = shape(text); values > 1 {
			l.values += values
		}
	}
	problem := ""
	switch {
	case len(text) > maxMarkerLength:
		problem = fmt.Sprintf("the marker is longer than %d KiB", maxMarkerLength>>10)
	case depth > maxMarkerDepth:
		problem = fmt.Sprintf("braces are nested more than %d levels deep", maxMarkerDepth)
	case values > maxMarkerValues:
		problem = fmt.Sprintf("%d values; a marker can have at most %d", values, maxMarkerValues)
	case l.values > maxValues && l.values-values <= maxValues: // once
		problem = fmt.Sprintf("the markers up to here have more than %d values", maxValues)
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

// typeDepths computes how deep the type declarations of a package are nested, through the types of the same package that they
// refer to.
type typeDepths struct {
	specs map[string]*ast.TypeSpec
	// depths are those of the types that are done, and 0 of those in progress.
	depths map[string]int
	// via is the field through which a type is nested deepest, and the type of that field.
	via map[string][2]string
}

// tooDeep returns the first type declaration that is nested deeper than maxTypeDepth, and its path, as in Type.Field.Field.
func tooDeep(trees []*ast.File) (path string, spec *ast.TypeSpec) {
	d := &typeDepths{specs: map[string]*ast.TypeSpec{}, depths: map[string]int{}, via: map[string][2]string{}}
	var specs []*ast.TypeSpec
	for _, tree := range trees {
		for _, decl := range tree.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.TYPE {
				for _, spec := range gen.Specs {
					specs = append(specs, spec.(*ast.TypeSpec))
					d.specs[spec.(*ast.TypeSpec).Name.Name] = spec.(*ast.TypeSpec)
				}
			}
		}
	}
	for _, spec := range specs {
		if d.depth(spec, 0) > maxTypeDepth {
			return d.path(spec.Name.Name), spec
		}
	}
	return "", nil
}

// depth returns the depth of a type declaration that is itself nested in level others. It returns as soon as the sum exceeds
// the limit.
func (d *typeDepths) depth(spec *ast.TypeSpec, level int) int {
	name := spec.Name.Name
	if known, ok := d.depths[name]; ok {
		return known
	}
	d.depths[name] = 0
	var levels []int // of the nodes around the current one
	var fields []string
	deepest := 0
	ast.Inspect(spec.Type, func(n ast.Node) bool {
		if n == nil {
			levels, fields = levels[:len(levels)-1], fields[:len(fields)-1]
			return true
		}
		if level+deepest > maxTypeDepth {
			return false
		}
		here, field, target := 0, "", ""
		if len(levels) > 0 {
			here, field = levels[len(levels)-1], fields[len(fields)-1]
		}
		below := 0
		switch n := n.(type) {
		case *ast.StructType, *ast.FieldList:
		case *ast.Field:
			here++
			if field == "" && len(n.Names) > 0 {
				field = n.Names[0].Name
			}
		case *ast.Ident:
			here++
			if named := d.specs[n.Name]; named != nil {
				target, below = n.Name, d.depth(named, level+here)
			}
		default:
			here++
		}
		if here+below > deepest {
			deepest, d.via[name] = here+below, [2]string{field, target}
		}
		levels, fields = append(levels, here), append(fields, field)
		return true
	})
	d.depths[name] = deepest
	return deepest
}

// path returns the beginning of the path along which a type is nested deepest.
func (d *typeDepths) path(name string) string {
	path := name
	for range 4 {
		via := d.via[name]
		if via[0] != "" {
			path += "." + via[0]
		}
		if via[1] == "" {
			return path
		}
		name = via[1]
	}
	return path + "…"
}
