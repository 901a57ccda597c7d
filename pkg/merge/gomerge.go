package merge

import (
	"bytes"
	"fmt"
	"go/format"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
)

// mergeGo merges two versions of a Go file like mergeNodes, and returns the merged text. Local names of packages may differ,
// and settings that are fields in theirs may be variables in ours. Ours is kept unchanged, with a reason in the result,
// if the merge would not compile or would lose an edit of a statement that theirs no longer has.
func mergeGo(ours, theirs []byte, base Base, o Options) ([]byte, *Result, error) {
	g := &goMerge{text: ours, base: base, o: o}
	var err error
	if g.ours, err = parseSource(joinImports(ours)); err != nil {
		return nil, nil, err
	}
	if g.theirs, err = parseSource(joinImports(theirs)); err != nil {
		return nil, nil, err
	}
	if !g.ours.listsImports() {
		return g.keep("its imports have no lines of their own")
	}
	if err := g.alignSettings(); err != nil {
		return nil, nil, err
	}
	text, r := g.merge(o.Side)
	if r.Reason != "" {
		return g.keep(r.Reason)
	}
	if len(r.Conflicts) > 0 {
		for _, side := range []Side{Ours, Theirs} {
			if _, chosen := g.merge(side); chosen.Reason != "" {
				return g.keep(chosen.Reason)
			}
		}
	}
	return text, r, nil
}

// keep returns ours unchanged.
func (g *goMerge) keep(reason string) ([]byte, *Result, error) {
	root, err := parseGo(g.text)
	return g.text, &Result{Root: root, Kept: [][]string{nil}, Edited: true, Reason: reason}, err
}

// goMerge merges two Go files.
type goMerge struct {
	text         []byte
	ours, theirs *goSource
	base         Base
	o            Options
	settings     []setting
}

// merge merges the files and decides conflicts for a side.
func (g *goMerge) merge(side Side) ([]byte, *Result) {
	ours, theirs := g.ours.neutralTree(), g.theirs.neutralTree()
	alignHeader(ours, theirs, g.base)
	o := g.o
	o.Side = side
	o.MayRemove = func(path []string, n *Node) bool {
		return !isSetup(n.Key) && (g.o.MayRemove == nil || g.o.MayRemove(path, n))
	}
	base := &goBase{g.base, g.settings}
	alignSetup(ours, theirs, base)
	r := mergeNodes(ours, theirs, base, o)
	r.Reason = lostEdit(ours, theirs, r, base)
	r.Root = cloneNode(r.Root)
	g.restoreImports(r.Root, ours, theirs)
	text := r.Root.Text()
	if len(r.Conflicts) == 0 {
		text = g.replaceSettings(text)
		if r.Reason == "" {
			r.Reason = g.fault(text)
		}
		if formatted, err := format.Source(text); err == nil && gosource.IsFormatted(g.text) {
			text = formatted
		}
		if root, err := parseGo(text); err == nil {
			r.Root = root
		}
	}
	if bytes.Equal(text, g.ours.Text) {
		text = g.text
	}
	return text, r
}

// alignHeader copies the license header of ours to theirs. The build constraint comes from theirs unless the user changed it.
func alignHeader(ours, theirs *Node, base Base) {
	header, constraint := takeHeader(ours), constraintFact(takeHeader(theirs))
	if old := constraintFact(header); base.Has(old) && !slices.Equal(old.Lines, constraint.Lines) {
		header = withConstraint(header, constraint.Lines)
	}
	if header != nil {
		ours.Nodes = slices.Insert(ours.Nodes, 0, header)
		theirs.Nodes = slices.Insert(theirs.Nodes, 0, header)
	}
}

// withConstraint returns the unit of a license header, which may be nil, with another build constraint.
func withConstraint(header *Node, constraint []string) *Node {
	n := &Node{Key: headerKey}
	for _, line := range constraint {
		n.Head = append(n.Head, line+"\n")
	}
	if len(constraint) > 0 {
		n.Head = append(n.Head, "\n")
	}
	if header == nil {
		return n
	}
	rest := slices.DeleteFunc(header.Lines(), isConstraint)
	for len(rest) > 0 && isBlank(rest[0]) {
		rest = rest[1:]
	}
	n.Head = append(n.Head, rest...)
	return n
}

func cloneNode(n *Node) *Node {
	c := *n
	c.Nodes = make([]*Node, len(n.Nodes))
	for i, child := range n.Nodes {
		c.Nodes[i] = cloneNode(child)
	}
	return &c
}

// alignSetup copies the fields of ours to units of theirs that register controllers, because they belong to a type of
// the user. Edited units that are independent of others are copied from ours entirely.
func alignSetup(ours, theirs *Node, base *goBase) {
	o, t := ours.child(mainKey), theirs.child(mainKey)
	if o == nil || t == nil {
		return
	}
	m := &merger{base: base}
	for i, unit := range t.Nodes {
		same := o.child(unit.Key)
		if same == nil || !isOptional(unit.Key) && unit.Key != "mgr.Start" {
			continue
		}
		aligned := *unit
		if same.Container && unit.Container && m.unedited(&Node{Head: same.Head, Tail: same.Tail, Container: true}, []string{mainKey, unit.Key}) {
			aligned.Nodes = same.Nodes
		} else if !m.unedited(same, []string{mainKey, unit.Key}) {
			aligned = *same
		}
		t.Nodes[i] = &aligned
	}
}

// lostEdit returns a problem if the user edited a statement or declaration that theirs no longer has, or added one that
// theirs uses for something else. The merge keeps the edit, but theirs has replaced the statement.
func lostEdit(ours, theirs *Node, r *Result, base *goBase) string {
	rewritten := rewrites(theirs, base)
	for _, path := range r.Conflicts {
		tests := strings.HasPrefix(path[0], "var _ ") // a tree of Ginkgo nodes, too large for a choice
		if rewritten || tests || len(base.settings) > 0 || !base.Has(Fact{path, Exists, nil}) {
			return fmt.Sprintf("%q is edited, and the current scaffold does it in another way", path[len(path)-1])
		}
	}
	for _, path := range r.Kept {
		last := path[len(path)-1]
		if path[0] == "imports" || isSetup(path[min(1, len(path)-1)]) || strings.HasPrefix(last, endComment) {
			continue
		}
		kept := find(ours, path) != nil
		switch {
		case kept && find(theirs, path) == nil && base.Has(Fact{path, Exists, nil}):
			return fmt.Sprintf("%q is edited, and the current scaffold does it in another way", last)
		case !kept && rewritten && len(path) == 2 && path[0] == mainKey && !isOptional(last):
			return fmt.Sprintf("%q is missing, and the current scaffold relies on it", last)
		}
	}
	return ""
}

const mainKey = "func main"

// rewrites reports whether the function main of theirs has statements that the base has in no form. It is a different
// program then, in which only edits of independent statements can be kept.
func rewrites(theirs *Node, base Base) bool {
	main := theirs.child(mainKey)
	return main != nil && base.Has(Fact{[]string{mainKey}, Exists, nil}) && slices.ContainsFunc(main.Nodes, func(n *Node) bool {
		return !isOptional(n.Key) && !base.Has(Fact{[]string{mainKey, n.Key}, Exists, nil})
	})
}

// isOptional reports whether the program works without the statement of main with a key.
func isOptional(key string) bool {
	return isSetup(key) || strings.HasPrefix(key, "marker ") || strings.HasPrefix(key, "mgr.Add") || strings.HasPrefix(key, endComment) || key == startKey
}

// find returns the unit at a path, or nil.
func find(n *Node, path []string) *Node {
	for _, key := range path {
		if n = n.child(key); n == nil {
			return nil
		}
	}
	return n
}
