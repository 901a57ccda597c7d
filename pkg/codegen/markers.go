package codegen

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// isReadByOtherTools reports whether a marker is read by something other than a generator.
func isReadByOtherTools(name string) bool {
	return slices.ContainsFunc([]string{"kubebuilder:scaffold:", "kubebuilder:docs-gen:", "kubebuilder:ac:"},
		func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// uselessMarkers returns the markers of kubebuilder that have no effect, and the content of files in which they have.
func (s *syntax) uselessMarkers() (findings diag.Findings, fixed map[string][]byte, err error) {
	known, err := All.registry()
	if err != nil {
		return nil, nil, err
	}
	findings, fixed, err = s.misplacedMarkers(known)
	return slices.Concat(s.unknownMarkers(known), s.malformedMarkers(known), findings).Sort(), fixed, err
}

// unknownMarkers returns the markers of kubebuilder that nothing reads.
func (s *syntax) unknownMarkers(known *markers.Registry) diag.Findings {
	var names []string
	for _, def := range known.AllDefinitions() {
		names = append(names, def.Name)
		if def.AnonymousField() {
			continue
		}
		for argument := range def.Fields {
			names = append(names, def.Name+":"+argument) // the first argument may follow a colon
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)

	var findings diag.Findings
	for _, pkg := range s.packages {
		for pos, text := range markersIn(pkg.trees...) {
			name, _, _ := strings.Cut(text[1:], "=")
			name = strings.TrimSpace(name)
			if !strings.HasPrefix(text, "+kubebuilder:") || isMarker(known, text) || isReadByOtherTools(name) {
				continue
			}
			name = shorten(name)
			findings = append(findings, s.ruled("unknown-marker", pos, fmt.Sprintf(
				"unknown marker +%s: no generator reads it; did you mean +%s?", name, suggestMarker(known, text, names))))
		}
	}
	return findings
}

// conversion is the prefix of the messages of package strconv.
var conversion = lazyregexp.New(`strconv\.\w+: parsing `)

// at returns the finding with a message at a position.
func (s *syntax) at(pos token.Pos, message string) diag.Finding {
	return findingAt(s.fset.Position(pos), conversion.ReplaceAllString(message, ""))
}

// ruled returns the finding of a check with a message at a position.
func (s *syntax) ruled(rule string, pos token.Pos, message string) diag.Finding {
	finding := s.at(pos, message)
	finding.Rule = rule
	return finding
}

func findingAt(at token.Position, problem string) diag.Finding {
	return diag.Finding{Position: diag.Position{File: at.Filename, Line: at.Line, Column: at.Column}, Problem: problem}
}

var (
	// badArgument matches the parser's message about an unknown argument.
	badArgument = lazyregexp.New(`^unknown argument "(.*)"`)
	// scannedAt matches the column that the parser adds to its messages.
	scannedAt = lazyregexp.New(` \(at <input>:1:(\d+)\)$`)
)

// markerFindings returns the errors of markers that cannot be parsed, with their positions and suggestions.
func (s *syntax) markerFindings(pkg *parsedPackage, err error) diag.Findings {
	var findings diag.Findings
	list, ok := errors.AsType[loader.ErrList](err)
	if !ok {
		list = loader.ErrList{err}
	}
	for _, e := range list {
		if nested, ok := errors.AsType[loader.ErrList](e); ok {
			// All errors of one marker. The parser does not recover from the first one.
			if len(nested) > 1 && !strings.HasPrefix(nested[0].Error(), "missing argument") {
				nested = nested[:1]
			}
			findings = append(findings, s.markerFindings(pkg, nested)...)
			continue
		}
		findings = append(findings, s.markerFinding(pkg, e))
	}
	return findings
}

// markerFinding returns the error of a marker with its position and a suggestion.
func (s *syntax) markerFinding(pkg *parsedPackage, err error) diag.Finding {
	positioned, ok := errors.AsType[loader.PositionedError](err)
	if !ok {
		return diag.Finding{Position: diag.Position{File: pkg.dir}, Problem: err.Error()}
	}
	pos, text := markerAt(pkg.trees, positioned.Pos)
	message, column := err.Error(), 0
	if m := scannedAt.FindStringSubmatch(message); m != nil {
		message = strings.TrimSuffix(message, m[0])
		column, _ = strconv.Atoi(m[1])
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(text, "+"), "=")
	targets := markerTargets()
	if inField(pkg.trees, positioned.Pos) {
		slices.Reverse(targets) // some markers have other arguments on fields
	}
	for _, target := range targets {
		def := s.collector.Lookup(text, target)
		if def == nil {
			continue
		}
		name = def.Name
		if m := badArgument.FindStringSubmatch(message); m != nil {
			arguments := slices.Sorted(maps.Keys(def.Fields))
			message += fmt.Sprintf("; did you mean %q? (arguments: %s)", nearest(m[1], arguments), strings.Join(arguments, ", "))
			column -= len(m[1]) // the parser reports the position of the equals sign
		} else if strings.HasPrefix(message, "missing argument") {
			column = 0
		}
		break
	}
	if column > 0 {
		// The parser counts from the end of the name and the sign after it.
		pos += token.Pos(min(len("+")+len(name)+column, len(text)))
	}
	return s.at(pos, "marker +"+name+": "+message)
}

// inField reports whether a comment documents a field.
func inField(trees []*ast.File, pos token.Pos) bool {
	for _, tree := range trees {
		if pos < tree.FileStart || pos > tree.FileEnd {
			continue
		}
		for n := range ast.Preorder(tree) {
			if field, ok := n.(*ast.Field); ok && field.Doc != nil && field.Doc.Pos() <= pos && pos < field.Doc.End() {
				return true
			}
		}
	}
	return false
}

// markerAt returns the marker in the comment at a position, and its own position.
func markerAt(trees []*ast.File, pos token.Pos) (token.Pos, string) {
	for _, tree := range trees {
		if pos < tree.FileStart || pos > tree.FileEnd {
			continue
		}
		for _, group := range tree.Comments {
			for _, comment := range group.List {
				if plus := strings.IndexByte(comment.Text, '+'); comment.Pos() == pos && plus > 0 {
					return pos + token.Pos(plus), strings.TrimSpace(comment.Text[plus:])
				}
			}
		}
	}
	return pos, "+"
}

// suggestMarker returns what a marker probably means: the one with the same value after an equals sign instead of a colon, or the nearest.
func suggestMarker(known *markers.Registry, text string, names []string) string {
	name, _, _ := strings.Cut(text[1:], "=")
	for at := strings.LastIndexByte(name, ':'); at > 0; at = strings.LastIndexByte(name[:at], ':') {
		value := text[1+at+1:]
		for _, target := range markerTargets() {
			if d := known.Lookup("+"+name[:at]+"="+value, target); value != "" && value[0] != '=' && d != nil && d.AnonymousField() && d.Name == name[:at] {
				return shorten(d.Name + "=" + value)
			}
		}
	}
	return nearestMarker(strings.TrimSpace(name), names)
}

// nearestMarker returns the marker that a name probably means: the nearest one with the same last part, or the nearest one.
func nearestMarker(name string, names []string) string {
	last := func(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }
	name = strings.TrimRight(name, ":") // of := after the name
	var same []string
	for _, known := range names {
		if strings.EqualFold(last(known), last(name)) {
			same = append(same, known)
		}
	}
	if same != nil {
		return nearest(name, same)
	}
	return nearest(name, names)
}

// nearest returns the name with the smallest edit distance.
func nearest(name string, names []string) string {
	best, least := "", -1
	for _, candidate := range names {
		if d := edits(name, candidate); least < 0 || d < least {
			best, least = candidate, d
		}
	}
	return best
}

// edits returns twice the Levenshtein distance, where a change of case counts half.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = 2 * j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = 2 * (i + 1)
		for j := range len(b) {
			cost := 2
			if a[i] == b[j] {
				cost = 0
			} else if strings.EqualFold(a[i:i+1], b[j:j+1]) {
				cost = 1
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+2, row[j+1]+2)
		}
	}
	return row[len(b)]
}
