package merge

import "slices"

// unedited reports whether the base has a unit except for its comments, also if the user enabled it.
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

// uneditedLead reports whether the comments before a unit are the base's.
func (m *merger) uneditedLead(n *Node, path []string) bool {
	return m.base.Has(Fact{path, LeadLines, significant(n.Lead)})
}

// uneditedComments reports whether the comments in a unit are the base's.
func (m *merger) uneditedComments(n *Node, path []string) bool {
	return !slices.ContainsFunc(n.Nodes, func(child *Node) bool {
		at := within(path, child.Key)
		return !m.uneditedLead(child, at) || !m.uneditedComments(child, at)
	})
}

// lacks reports whether ours lacks a unit of base and theirs.
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

// chosen reports whether the user decides to enable an entry, or commented out an entry of the base.
func (m *merger) chosen(ours *Node, path []string) bool {
	return !ours.Off || m.o.IsOption == nil || m.o.IsOption(path) || !m.strict.Has(Fact{path, HeadLines, significant(ours.Head)})
}

// replaceable reports whether theirs can replace ours with its comments and its order: the user changed and moved
// nothing, and the same entries are enabled in both.
func (m *merger) replaceable(ours, theirs *Node, path []string) bool {
	return m.unedited(ours, path) && !m.lacks(ours, theirs, path) && m.matches(ours, theirs, path)
}

// unmoved reports whether the units of a container are in the order of the base.
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

// matches reports whether comments and order of an unedited unit match the base, or its order matches theirs,
// and whether all units of theirs may be added and all others removed.
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
