package merge

import (
	"slices"
	"strings"
)

// A Side decides conflicts between the user and the generator.
type Side int

const (
	// Markers keeps both between conflict markers.
	Markers Side = iota
	Ours
	Theirs
)

// Options configure a merge.
type Options struct {
	Side Side
	// OursLabel and TheirsLabel name the sides in conflict markers.
	OursLabel, TheirsLabel string
	// IsOption reports whether the user decides to enable an entry that is commented out in ours and enabled in theirs.
	// Nil means always.
	IsOption func(path []string) bool
	// MayAdd reports whether a new unit of theirs may be added. Nil means always.
	MayAdd func(path []string, unit *Node) bool
	// MayRemove reports whether an unedited unit that theirs no longer has may be removed. Nil means always.
	MayRemove func(path []string, unit *Node) bool
	// IsObsolete reports whether an entry that the user enabled, and that theirs no longer has, has no effect any more.
	// Nil means never.
	IsObsolete func(path []string, unit *Node) bool
	// IsChoice reports whether a unit that both changed is a choice of the user, which is kept without a conflict. Nil
	// means never.
	IsChoice func(ours, theirs *Node) bool
}

// Result is a merged text.
type Result struct {
	Root *Node
	// Conflicts are the paths of units that both changed. Kept are the paths of units of ours that are kept although theirs
	// differs.
	Conflicts, Kept [][]string
	// Choices are the paths of units that both changed, and that keep the user's form.
	Choices [][]string
	// Edited reports whether ours differs from the base.
	Edited bool
	// Reason is the reason to keep ours unchanged although theirs differs from the base, or "".
	Reason string
}

// mergeNodes merges ours and theirs against the base. It does not change the trees. Units of ours that the base does not
// have belong to the user and are kept. Units of the base that ours lacks were removed by the user and are not added
// again. All others take the form of theirs, at their place in ours.
func mergeNodes(ours, theirs *Node, base Base, o Options) *Result {
	m := &merger{o: o, base: WithOptions(base), strict: base}
	r := &Result{Edited: !isUnedited(base, ours, nil) || m.lacks(ours, theirs, nil)}
	m.result = r
	r.Root = m.node(ours, theirs, nil)
	return r
}

type merger struct {
	o Options
	// base includes the commented entries of the base in enabled form, strict does not.
	base, strict Base
	result       *Result
}

// addable returns the part of a new unit of theirs that can be added, or nil.
func (m *merger) addable(path []string, n *Node) *Node {
	if m.o.MayAdd == nil {
		return n
	}
	if !n.Splittable || len(n.Nodes) == 0 {
		if m.o.MayAdd(path, n) {
			return n
		}
		return nil
	}
	part := *n
	part.Nodes = nil
	for _, child := range n.Nodes {
		if c := m.addable(within(path, child.Key), child); c != nil {
			part.Nodes = append(part.Nodes, c)
		}
	}
	switch len(part.Nodes) {
	case len(n.Nodes):
		return n
	case 0:
		return nil
	}
	return &part
}

func (m *merger) mayRemove(path []string, n *Node) bool {
	return m.o.MayRemove == nil || m.o.MayRemove(path, n)
}

// node merges a unit of both.
func (m *merger) node(ours, theirs *Node, path []string) *Node {
	if equal(ours, theirs) {
		return ours
	}
	if ours.Off != theirs.Off && m.chosen(ours, path) {
		m.result.Kept = append(m.result.Kept, path)
		return ours
	}
	if m.replaceable(ours, theirs, path) {
		return theirs.shifted(ours.Indent - theirs.Indent)
	}
	if ours.Container && theirs.Container {
		return m.container(ours, theirs, path)
	}
	merged := *ours
	merged.Lead = m.lead(ours, theirs, path)
	switch {
	case equalLines(body(ours), body(theirs)):
	case m.unedited(ours, path) && !m.emptied(ours, theirs, path):
		merged = *theirs.shifted(ours.Indent - theirs.Indent)
		merged.Lead = m.lead(ours, theirs, path)
	case m.unedited(theirs, path), ours.Off:
		m.result.Kept = append(m.result.Kept, path)
	default:
		return m.conflict(&merged, theirs, path)
	}
	return &merged
}

// emptied reports whether ours is a container of theirs from which the user removed all units.
func (m *merger) emptied(ours, theirs *Node, path []string) bool {
	return !ours.Container && theirs.Container && equalLines(body(ours), theirs.Head) && m.lacks(ours, theirs, path)
}

// body returns the lines of a unit without the comments before it.
func body(n *Node) []string { return n.Lines()[len(n.Lead):] }

// lead merges the comments before a unit.
func (m *merger) lead(ours, theirs *Node, path []string) []string {
	if equalLines(ours.Lead, theirs.Lead) || !m.uneditedLead(ours, path) {
		return ours.Lead
	}
	return theirs.Lead
}

// lines merges the lines of a container before or after its units. ok is false if both changed them.
func (m *merger) lines(ours, theirs []string, path []string, part Part) ([]string, bool) {
	switch {
	case equalLines(ours, theirs):
		return ours, true
	case m.base.Has(Fact{path, part, significant(ours)}):
		return theirs, true
	case m.base.Has(Fact{path, part, significant(theirs)}):
		return ours, true
	}
	return ours, false
}

func (m *merger) container(ours, theirs *Node, path []string) *Node {
	merged := *ours
	merged.Lead = m.lead(ours, theirs, path)
	var ok bool
	if merged.Head, ok = m.lines(ours.Head, theirs.Head, path, HeadLines); !ok {
		return m.conflict(ours, theirs, path)
	}
	if merged.Tail, ok = m.lines(ours.Tail, theirs.Tail, path, TailLines); !ok {
		return m.conflict(ours, theirs, path)
	}
	merged.Nodes = nil
	var left []string // comments of the user before removed units
	for _, o := range ours.Nodes {
		at := within(path, o.Key)
		var n *Node
		if t := theirs.child(o.Key); t != nil {
			n = m.node(o, t, at)
		} else {
			n = m.withdrawn(o, at)
		}
		if n == nil {
			if !m.uneditedLead(o, at) {
				left = append(left, o.Lead...)
			}
			continue
		}
		if len(left) > 0 {
			with := *n
			with.Lead, left = append(left, n.Lead...), nil
			n = &with
		}
		merged.Nodes = append(merged.Nodes, n)
	}
	merged.Tail = append(left, merged.Tail...)
	for i, t := range theirs.Nodes {
		if ours.child(t.Key) != nil {
			continue
		}
		if n := m.added(t, within(path, t.Key), m.isAlternative(ours, theirs, t, path)); n != nil {
			merged.Nodes = slices.Insert(merged.Nodes, place(merged.Nodes, theirs.Nodes, i), n.shifted(indent(ours, theirs)))
		}
	}
	return &merged
}

// indent returns by how much units of ours are indented further than units of theirs.
func indent(ours, theirs *Node) int {
	if len(ours.Nodes) > 0 {
		return ours.Nodes[0].Indent - theirs.Nodes[0].Indent
	}
	return ours.Indent - theirs.Indent
}

// isAlternative reports whether ours has one rule of a role in place of several rules of theirs, including this one.
// Patch releases wrote the same permissions in both ways, so the base has all forms.
func (m *merger) isAlternative(ours, theirs, rule *Node, path []string) bool {
	if !strings.HasPrefix(rule.Key, "apiGroups ") {
		return false
	}
	return slices.ContainsFunc(ours.Nodes, func(o *Node) bool {
		has := strings.Fields(o.Key) // API groups and resources
		lacks := func(word string) bool { return !slices.Contains(has, word) }
		return theirs.child(o.Key) == nil && m.unedited(o, within(path, o.Key)) && !slices.ContainsFunc(strings.Fields(rule.Key), lacks)
	})
}

// added returns the part of a unit that ours lacks to add: nothing if the user removed it, unless it is an alternative
// to a unit of ours.
func (m *merger) added(t *Node, path []string, alternative bool) *Node {
	if !alternative && m.base.Has(Fact{path, Exists, nil}) {
		m.result.Kept = append(m.result.Kept, path)
		return nil
	}
	return m.addable(path, t)
}

// withdrawn returns the rest of a unit that theirs no longer has: nil if the user did not edit it.
func (m *merger) withdrawn(o *Node, path []string) *Node {
	switch {
	case isUnedited(m.strict, o, path) && (o.Splittable || m.uneditedComments(o, path)):
		if m.mayRemove(path, o) {
			return nil
		}
	case m.o.IsObsolete != nil && isUnedited(m.base, o, path) && m.uneditedComments(o, path) && m.o.IsObsolete(path, o):
		return nil
	case o.Splittable:
		left := *o
		left.Nodes = nil
		for _, child := range o.Nodes {
			if n := m.withdrawn(child, within(path, child.Key)); n != nil {
				left.Nodes = append(left.Nodes, n)
			}
		}
		if len(left.Nodes) == 0 && isUnedited(m.strict, &left, path) && m.mayRemove(path, o) {
			return nil
		}
		return &left
	case !m.base.Has(Fact{path, Exists, nil}):
		return o
	}
	m.result.Kept = append(m.result.Kept, path)
	return o
}

// place returns the index for the unit i of theirs among merged units: after the closest preceding one, or before the
// closest following one.
func place(merged, theirs []*Node, i int) int {
	index := func(key string) int {
		return slices.IndexFunc(merged, func(n *Node) bool { return n.Key == key })
	}
	for j := i - 1; j >= 0; j-- {
		if at := index(theirs[j].Key); at >= 0 {
			return at + 1
		}
	}
	for j := i + 1; j < len(theirs); j++ {
		if at := index(theirs[j].Key); at >= 0 {
			return at
		}
	}
	return len(merged)
}

// conflict returns the unit for two that cannot be merged.
func (m *merger) conflict(ours, theirs *Node, path []string) *Node {
	if m.o.IsChoice != nil && m.o.IsChoice(ours, theirs) {
		m.result.Kept, m.result.Choices = append(m.result.Kept, path), append(m.result.Choices, path)
		return ours
	}
	switch m.o.Side {
	case Ours:
		m.result.Kept = append(m.result.Kept, path)
		return ours
	case Theirs:
		return theirs
	}
	m.result.Conflicts = append(m.result.Conflicts, path)
	lines := []string{"<<<<<<< " + m.o.OursLabel + "\n"}
	lines = append(lines, body(ours)...)
	lines = append(lines, "=======\n")
	lines = append(lines, body(theirs)...)
	lines = append(lines, ">>>>>>> "+m.o.TheirsLabel+"\n")
	return &Node{Key: ours.Key, Lead: ours.Lead, Head: lines}
}
