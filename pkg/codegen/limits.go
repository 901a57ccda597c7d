package codegen

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"text/scanner"

	"sigs.k8s.io/controller-tools/pkg/markers"
)

// Limits of the source. The time and memory that controller-tools needs for a marker or a type grow with the square of the
// nesting and of the number of values, or worse. etcd accepts objects of up to 1.5 MiB; the largest CRDs in use have markers
// of a few KiB with about a thousand values, and types that are nested less than 50 levels deep.
const (
	maxMarkerLength = 256 << 10
	maxMarkerDepth  = 100
	maxMarkerValues = 10_000
	// maxMarkerSteps is the limit of the sum of values * (values + 1000) over all markers: the parser's time grows with the
	// square of the values of a marker, its memory with the values of all markers. Generated APIs have thousands of markers
	// with a few values each.
	maxMarkerSteps = 500_000_000
	maxTypeDepth   = 1000
	// maxStructFields limits the fields of a struct, including fields of structs in it.
	maxStructFields = 100_000
	// maxValueDepth is the limit of operators in the value of a constant or variable.
	maxValueDepth = 10_000
)

// A source is the syntax of a package, and a function that reports its problems.
type source struct {
	path   string
	trees  []*ast.File
	report func(token.Pos, string)
}

// checkLimits reports the markers, types and values that exceed a limit. Call it before controller-tools and the type
// checker read them.
func checkLimits(registry *markers.Registry, sources []source) {
	steps := 0
	for _, pkg := range sources {
		for pos, text := range markersIn(pkg.trees...) {
			if problem := checkMarker(registry, text, &steps); problem != "" {
				pkg.report(pos, problem)
			}
		}
		for _, tree := range pkg.trees {
			for _, decl := range tree.Decls {
				if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok != token.TYPE && nodeDepth(gen) > maxValueDepth {
					pkg.report(gen.Pos(), fmt.Sprintf("the value is nested more than %d levels deep", maxValueDepth))
				}
			}
		}
	}
	checkTypes(sources)
}

// checkMarker returns the limit that a marker exceeds, or "". It adds to the steps of all markers.
func checkMarker(registry *markers.Registry, text string, steps *int) string {
	if len(text) <= maxMarkerDepth || !isMarker(registry, text) {
		return "" // a shorter marker cannot exceed a limit
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
		problem = fmt.Sprintf("parsing the values of the markers up to here takes more than %d steps; divide the longest lists",
			maxMarkerSteps)
	default:
		return ""
	}
	name, _, _ := strings.Cut(text, "=")
	return "marker " + shorten(name) + ": " + problem
}

// isMarker reports whether a registry has a definition of a marker.
func isMarker(registry *markers.Registry, text string) bool {
	return slices.ContainsFunc(markerTargets(), func(target markers.TargetType) bool {
		return registry.Lookup(text, target) != nil
	})
}

// markerTargets returns the targets that a marker may describe.
func markerTargets() []markers.TargetType {
	return []markers.TargetType{markers.DescribesPackage, markers.DescribesType, markers.DescribesField}
}

// shape returns the nesting depth of the braces in the arguments of a marker, and the number of values. The tokens are those
// of the parser in package markers.
func shape(text string) (depth, values int) {
	_, arguments, ok := strings.Cut(text, "=")
	if !ok {
		return 0, 0
	}
	var s scanner.Scanner
	s.Init(bytes.NewBufferString(arguments))
	s.Mode = scanner.ScanIdents | scanner.ScanInts | scanner.ScanFloats | scanner.ScanStrings | scanner.ScanRawStrings |
		scanner.SkipComments
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

// shorten truncates a name that is too long for a message.
func shorten(name string) string {
	const maxLength = 100
	if len(name) > maxLength {
		return strings.ToValidUTF8(name[:maxLength], "") + "…"
	}
	return name
}

// nodeDepth returns the depth of a syntax tree.
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
