package merge

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// parseGo splits a Go file into its package clause, imports and declarations. The functions main and init are
// containers of statements, and statements with a struct literal over several lines are containers of its fields.
// Comments with a scaffold marker are units.
func parseGo(text []byte) (*Node, error) {
	s, err := parseSource(text)
	if err != nil {
		return nil, err
	}
	return s.tree(splitLines(text)), nil
}

// goFacts returns the facts of a Go file, with import paths for packages and without the license header.
func goFacts(text []byte) ([]Fact, error) {
	s, err := parseSource(text)
	if err != nil {
		return nil, err
	}
	root := s.neutralTree()
	constraint := constraintFact(takeHeader(root))
	return append(Facts(root), constraint), nil
}

// takeHeader removes the unit of the license header, if it is the first one, from a tree and returns it, or nil.
func takeHeader(root *Node) *Node {
	if len(root.Nodes) == 0 || root.Nodes[0].Key != headerKey {
		return nil
	}
	header := root.Nodes[0]
	root.Nodes = root.Nodes[1:]
	return header
}

// constraintFact returns the fact about the build constraint of a file with a header, which may be nil.
func constraintFact(header *Node) Fact {
	var lines []string
	if header != nil {
		lines = slices.DeleteFunc(significant(header.Lines()), func(line string) bool { return !isConstraint(line) })
	}
	return Fact{[]string{"build constraint"}, HeadLines, lines}
}

func isConstraint(line string) bool {
	return strings.HasPrefix(line, "//go:build ") || strings.HasPrefix(line, "// +build ")
}

// goSource is a parsed Go file.
type goSource struct {
	*gosource.File
	// imports holds the import specs that the code uses by local name.
	imports map[string]*ast.ImportSpec
	// neutral replaces the local names of imports by marked paths.
	neutral []textdiff.Edit
}

// Marks around import paths, which valid Go contains only in comments and strings.
const (
	openPath  = "\ue000"
	closePath = "\ue001"
)

var markedPath = lazyregexp.New(openPath + "([^" + closePath + "]*)" + closePath)

func parseSource(text []byte) (*goSource, error) {
	file, err := gosource.Parse("", text)
	if err != nil {
		return nil, fmt.Errorf("parsing Go: %w", err)
	}
	s := &goSource{File: file}
	s.resolveImports()
	return s, nil
}

func (s *goSource) lineIndex(pos token.Pos) int { return s.Line(pos) - 1 }

// key returns the text of a node in one line, with import paths for local names of packages.
func (s *goSource) key(n ast.Node) string {
	from, to := s.Offset(n.Pos()), s.Offset(n.End())
	var edits []textdiff.Edit
	for _, e := range s.neutral {
		if from <= e.From && e.To <= to {
			edits = append(edits, textdiff.Edit{From: e.From - from, To: e.To - from, Text: markedPath.ReplaceAllString(e.Text, "$1")})
		}
	}
	return strings.Join(strings.Fields(string(textdiff.Apply(s.Text[from:to], edits))), " ")
}

// neutralTree returns the tree with marked import paths for local names of packages.
func (s *goSource) neutralTree() *Node {
	return s.tree(splitLines(textdiff.Apply(s.Text, s.neutral)))
}

// tree returns the tree of lines that correspond to the text's lines.
func (s *goSource) tree(lines []string) *Node {
	b := &goBuilder{lines: lines}
	root := &Node{Container: true}
	root.Nodes, root.Tail = b.nodes(s.declarations(), 0, len(lines))
	return root
}

type goBuilder struct{ lines []string }

var scaffoldMarker = lazyregexp.New(`^\s*//\s*\+kubebuilder:scaffold:(\S+)\s*$`)

// endComment is the key of comments after the last unit, such as commented fields.
const endComment = "comment at the end"

// nodes returns the nodes of units, scaffold markers and final comments between two lines, and the lines after them.
func (b *goBuilder) nodes(units []*goUnit, from, to int) (nodes []*Node, tail []string) {
	lead := func(to int) []string {
		for i := from; i < to; i++ {
			if m := scaffoldMarker.FindStringSubmatch(b.lines[i]); m != nil {
				nodes = append(nodes, &Node{Key: "marker " + m[1], Lead: b.lines[from:i:i], Head: b.lines[i : i+1 : i+1]})
				from = i + 1
			}
		}
		return b.lines[from:to:to]
	}
	for _, u := range units {
		n := &Node{Key: u.key, Lead: lead(u.from)}
		if u.inTo == 0 {
			n.Head = b.lines[u.from:u.to:u.to]
		} else {
			n.Container, n.Splittable = true, u.splittable
			n.Head = b.lines[u.from:u.inFrom:u.inFrom]
			n.Nodes, n.Tail = b.nodes(u.units, u.inFrom, u.inTo)
			n.Tail = slices.Concat(n.Tail, b.lines[u.inTo:u.to])
		}
		nodes = append(nodes, n)
		from = u.to
	}
	tail = lead(to)
	if slices.ContainsFunc(tail, func(line string) bool { return !isBlank(line) }) {
		nodes, tail = append(nodes, &Node{Key: endComment, Head: tail}), nil
	}
	number(nodes)
	return nodes, tail
}
