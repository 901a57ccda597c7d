package merge

import (
	"slices"
	"strings"
)

// Side decides what becomes of a unit that both the user and the generator changed.
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
	// IsOption reports whether an entry that is switched off in ours is for the user to switch on, although theirs has it
	// on. Nil stands for always.
	IsOption func(path []string) bool
	// MayAdd reports whether a unit that is new in theirs may be added. Nil stands for always.
	MayAdd func(path []string, unit *Node) bool
	// MayRemove reports whether an unedited unit that theirs no longer has may be removed. Nil stands for always.
	MayRemove func(path []string, unit *Node) bool
	// IsObsolete reports whether an entry that the user switched on, and that theirs no longer has, has no effect any more. Nil
	// stands for never.
	IsObsolete func(path []string, unit *Node) bool
	// IsChoice reports whether a unit that both changed holds a choice of the user's, which stays without a conflict. Nil
	// stands for never.
	IsChoice func(ours, theirs *Node) bool
}

// Result is a merged text.
type Result struct {
	Root *Node
	// Conflicts holds the paths of units that both changed, Kept those of units of ours that stay although theirs has
	// another or none.
	Conflicts, Kept [][]string
	// Choices holds the paths of units that both changed, and that stay as the user's choice.
	Choices [][]string
	// Edited reports whether ours differs from the base.
	Edited bool
	// Reason states why ours stays as a whole, if it does so although theirs differs from the base.
	Reason string
}

// Merge merges ours and theirs against the base. Neither tree is changed. What ours has and the base does not is the
// user's, and stays. What ours lacks and the base has was removed by the user, and is not added again. Everything else
// becomes what it is in theirs, at its place in ours.
func Merge(ours, theirs *Node, base Base, o Options) *Result {
	m := &merger{o: o, base: WithOptions(base), strict: base}
	r := &Result{Edited: !isUnedited(base, ours, nil) || m.lacks(ours, theirs, nil)}
	m.result = r
	r.Root = m.node(ours, theirs, nil)
	return r
}

type merger struct {
	o Options
	// base also has the options of the base as they are when the user switches them on, strict does not.
	base, strict Base
	result       *Result
}

// unedited reports whether the base has all of a unit but its comments, though the user may have switched it on.
func (m *merger) unedited(n *Node, path []string) bool { return isUnedited(m.base, n, path) }

func isUnedited(b Base, n *Node, path []string) bool {
	if !b.Has(Fact{path, HeadLines, significant(n.Head)}) {
		return false
	}
	if n.Container && !b.Has(Fact{path, TailLines, significant(n.Tail)}) {
		return false
	}
	for _, child := range n.Nodes {
		if !isUnedited(b, child, within(path, child.Key)) {
			return false
		}
	}
	return true
}

// uneditedLead reports whether the comments before a unit are those of the base.
func (m *merger) uneditedLead(n *Node, path []string) bool {
	return m.base.Has(Fact{path, LeadLines, significant(n.Lead)})
}

// uneditedComments reports whether the comments in a unit are those of the base.
func (m *merger) uneditedComments(n *Node, path []string) bool {
	return !slices.ContainsFunc(n.Nodes, func(child *Node) bool {
		at := within(path, child.Key)
		return !m.uneditedLead(child, at) || !m.uneditedComments(child, at)
	})
}

// lacks reports whether ours lacks a unit that base and theirs have.
func (m *merger) lacks(ours, theirs *Node, path []string) bool {
	for _, t := range theirs.Nodes {
		at := within(path, t.Key)
		o := ours.child(t.Key)
		if o == nil && m.base.Has(Fact{at, Exists, nil}) || o != nil && m.lacks(o, t, at) {
			return true
		}
	}
	return false
}

// chosen reports whether the user decides whether an entry is on or off, or switched off what the base has on.
func (m *merger) chosen(ours *Node, path []string) bool {
	return !ours.Off || m.o.IsOption == nil || m.o.IsOption(path) || !m.strict.Has(Fact{path, HeadLines, significant(ours.Head)})
}

// replaceable reports whether theirs can take the place of ours with its comments and its order: the user changed
// nothing, moved nothing, and nothing is switched on in one of them and off in the other.
func (m *merger) replaceable(ours, theirs *Node, path []string) bool {
	return m.unedited(ours, path) && !m.lacks(ours, theirs, path) && m.matches(ours, theirs, path)
}

// unmoved reports whether the units of a container stand in the order of the base.
func (m *merger) unmoved(n *Node, path []string) bool {
	before := ""
	for _, child := range n.Nodes {
		if !m.base.Has(Fact{within(path, child.Key), Follows, []string{before}}) {
			return false
		}
		before = child.Key
	}
	return true
}

// matches reports whether comments and order of an unedited unit are those of the base, or its order is that of theirs,
// and whether all units of theirs may come and all others may go.
func (m *merger) matches(ours, theirs *Node, path []string) bool {
	if !m.uneditedLead(ours, path) {
		return false
	}
	at := 0
	for _, o := range ours.Nodes {
		i := slices.IndexFunc(theirs.Nodes, func(t *Node) bool { return t.Key == o.Key })
		switch {
		case i < 0 && (!m.mayRemove(within(path, o.Key), o) || !m.uneditedLead(o, within(path, o.Key)) || !m.uneditedComments(o, within(path, o.Key))):
			return false
		case i < 0:
			continue
		case i < at && !m.unmoved(ours, path), o.Off != theirs.Nodes[i].Off && m.chosen(o, within(path, o.Key)):
			return false
		}
		at = max(at, i)
		if !m.matches(o, theirs.Nodes[i], within(path, o.Key)) {
			return false
		}
	}
	for _, t := range theirs.Nodes {
		if ours.child(t.Key) == nil && m.addable(within(path, t.Key), t) != t {
			return false
		}
	}
	return true
}

// addable returns what can be added of a unit that is new in theirs, or nil.
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

// node merges a unit that both have.
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

// lines merges the lines of a container before or after its units. It reports false where both changed them.
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
	var left []string // the user's comments before units that go
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

// indent returns how much further to the right the units of ours stand than those of theirs.
func indent(ours, theirs *Node) int {
	if len(ours.Nodes) > 0 {
		return ours.Nodes[0].Indent - theirs.Nodes[0].Indent
	}
	return ours.Indent - theirs.Indent
}

// isAlternative reports whether ours has a rule of a role in place of several rules of theirs, of which this is one. Patch
// releases wrote the same permissions in both ways, so that the base has them all.
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

// added returns what is to be added of a unit of theirs that ours lacks: nothing if the user removed it, unless it is an
// alternative to what ours has.
func (m *merger) added(t *Node, path []string, alternative bool) *Node {
	if !alternative && m.base.Has(Fact{path, Exists, nil}) {
		m.result.Kept = append(m.result.Kept, path)
		return nil
	}
	return m.addable(path, t)
}

// withdrawn returns what stays of a unit that theirs no longer has: nil if the user did not edit it.
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

// place returns where the unit i of theirs belongs among merged units: after the nearest one before it in theirs, or
// before the nearest one after it.
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
