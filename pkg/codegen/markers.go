package codegen

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/applyconfiguration"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/deepcopy"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/controller-tools/pkg/rbac"
	"sigs.k8s.io/controller-tools/pkg/webhook"
)

// registry holds the markers that some generators read.
func (g Generators) registry() (*markers.Registry, error) {
	into := &markers.Registry{}
	for _, one := range []struct {
		on        bool
		generator genall.Generator
	}{
		{g&Object != 0, deepcopy.Generator{}},
		{g&(CRD|schemaPatches) != 0, crd.Generator{}},
		{g&RBAC != 0, rbac.Generator{}},
		{g&Webhook != 0, webhook.Generator{}},
		{g&ApplyConfiguration != 0, applyconfiguration.Generator{}},
	} {
		if !one.on {
			continue
		}
		if err := one.generator.RegisterMarkers(into); err != nil {
			return nil, fmt.Errorf("registering markers: %w", err)
		}
	}
	return into, nil
}

// readElsewhere are prefixes of markers that no generator reads but something else does.
func readElsewhere(name string) bool {
	for _, prefix := range []string{"kubebuilder:scaffold:", "kubebuilder:docs-gen:", "kubebuilder:ac:"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// comments calls back for every comment of a package that looks like a marker of kubebuilder, with its text from the plus sign on.
func (s *syntax) comments(one *parsed, each func(at token.Pos, text string)) {
	for _, tree := range one.trees {
		for _, group := range tree.Comments {
			for _, comment := range group.List {
				if body, ok := strings.CutPrefix(comment.Text, "//"); ok {
					if text := strings.TrimSpace(body); strings.HasPrefix(text, "+kubebuilder:") {
						each(comment.Pos()+token.Pos(strings.IndexByte(comment.Text, '+')), text)
					}
				}
			}
		}
	}
}

// unknown finds the markers that nothing reads.
func (s *syntax) unknown() (Findings, error) {
	known, err := All.registry()
	if err != nil {
		return nil, err
	}
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

	var findings Findings
	for _, one := range s.packages {
		s.comments(one, func(at token.Pos, text string) {
			if isMarker(known, text) {
				return
			}
			name, _, _ := strings.Cut(text[1:], "=")
			if name = strings.TrimSpace(name); readElsewhere(name) {
				return
			}
			name = shorten(name)
			findings = append(findings, s.at(at, fmt.Sprintf("unknown marker +%s: no generator reads it; did you mean +%s?", name, nearest(name, names))))
		})
	}
	return findings.tidy(), nil
}

// conversion is what package strconv puts before its own words.
var conversion = regexp.MustCompile(`strconv\.\w+: parsing `)

// at places a message.
func (s *syntax) at(pos token.Pos, message string) Finding {
	message = conversion.ReplaceAllString(message, "")
	p := s.fset.Position(pos)
	return Finding{File: p.Filename, Line: p.Line, Column: p.Column, Message: message}
}

var (
	// badArgument finds the name in the parser's message about an argument it does not know.
	badArgument = regexp.MustCompile(`^unknown argument "(.*)"`)
	// scannedAt finds the column that the parser adds to its messages.
	scannedAt = regexp.MustCompile(` \(at <input>:1:(\d+)\)$`)
)

// markerFindings places the errors of markers that don't parse and names the argument that was probably meant.
func (s *syntax) markerFindings(one *parsed, err error) Findings {
	var findings Findings
	list, ok := errors.AsType[loader.ErrList](err)
	if !ok {
		list = loader.ErrList{err}
	}
	for _, e := range list {
		if of, ok := errors.AsType[loader.ErrList](e); ok {
			// All errors of one marker. After the first the parser has lost its way.
			if len(of) > 1 && !strings.HasPrefix(of[0].Error(), "missing argument") {
				of = of[:1]
			}
			findings = append(findings, s.markerFindings(one, of)...)
			continue
		}
		findings = append(findings, s.markerFinding(one, e))
	}
	return findings
}

func (s *syntax) markerFinding(one *parsed, err error) Finding {
	placed, ok := errors.AsType[loader.PositionedError](err)
	if !ok {
		return Finding{File: one.dir, Message: err.Error()}
	}
	pos, text := markerAt(one.trees, placed.Pos)
	message, column := err.Error(), 0
	if m := scannedAt.FindStringSubmatch(message); m != nil {
		message = strings.TrimSuffix(message, m[0])
		column, _ = strconv.Atoi(m[1])
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(text, "+"), "=")
	targets := []markers.TargetType{markers.DescribesPackage, markers.DescribesType, markers.DescribesField}
	if inField(one.trees, placed.Pos) {
		slices.Reverse(targets) // some markers have arguments of their own on fields
	}
	for _, target := range targets {
		def := s.collector.Lookup(text, target)
		if def == nil {
			continue
		}
		name = def.Name
		if m := badArgument.FindStringSubmatch(message); m != nil {
			var arguments []string
			for argument := range def.Fields {
				arguments = append(arguments, argument)
			}
			slices.Sort(arguments)
			message += fmt.Sprintf("; did you mean %q? (arguments: %s)", nearest(m[1], arguments), strings.Join(arguments, ", "))
			column -= len(m[1]) // the parser has read on to the equals sign
		} else if strings.HasPrefix(message, "missing argument") {
			column = 0
		}
		break
	}
	if column > 0 {
		// It counts from behind the name and the sign that follows it.
		pos += token.Pos(min(len("+")+len(name)+column, len(text)))
	}
	return s.at(pos, "marker +"+name+": "+message)
}

// inField reports whether a comment documents a field.
func inField(trees []*ast.File, pos token.Pos) bool {
	found := false
	for _, tree := range trees {
		if pos < tree.FileStart || pos > tree.FileEnd {
			continue
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok && field.Doc != nil && field.Doc.Pos() <= pos && pos < field.Doc.End() {
				found = true
			}
			return !found
		})
	}
	return found
}

// markerAt is the marker in the comment at a position, and where it begins.
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

// nearest is the name that takes the fewest edits to reach, where a change of case is half an edit.
func nearest(name string, names []string) string {
	best, least := "", -1
	for _, candidate := range names {
		if d := edits(name, candidate); least < 0 || d < least {
			best, least = candidate, d
		}
	}
	return best
}

// edits is twice the Levenshtein distance, with changes of case at half price.
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
