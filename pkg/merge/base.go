package merge

import (
	"slices"
	"strings"
)

// A Fact is a statement about a text: the existence of a unit at a path of keys, or the lines of that unit.
type Fact struct {
	// Path holds the keys from the root to the unit.
	Path []string
	// Part is the part of the unit to which Lines belong.
	Part Part
	// Lines are trimmed of line ends, surrounding space and blank lines. They are nil for Exists.
	Lines []string
}

// Part is a part of a unit.
type Part string

const (
	// Exists states the existence of a unit, whatever its lines.
	Exists Part = "?"
	// HeadLines means that Lines come from the node's Head.
	HeadLines Part = "{"
	// TailLines means that Lines come from the node's Tail.
	TailLines Part = "}"
	// LeadLines means that Lines come from the node's Lead.
	LeadLines Part = "#"
	// Follows states the preceding unit: Lines contain its key, or "" for the first unit.
	Follows Part = "<"
	// SwitchedOn is the suffix of the part of facts that hold if a commented entry is enabled.
	SwitchedOn Part = "~"
)

// A Base is the set of facts of the earlier generator's text.
type Base interface {
	Has(Fact) bool
}

// Facts returns the facts of a tree in order.
func Facts(root *Node) []Fact {
	var facts []Fact
	collect(root, nil, func(f Fact) { facts = append(facts, f) })
	return facts
}

// WithOptions returns a base that also has the facts of the commented entries in b if they are enabled.
func WithOptions(b Base) Base { return optionBase{b} }

type optionBase struct{ Base }

func (b optionBase) Has(f Fact) bool {
	return b.Base.Has(f) || f.Part != Exists && b.Base.Has(Fact{f.Path, f.Part + SwitchedOn, f.Lines})
}

func collect(n *Node, path []string, add func(Fact)) {
	if n.On != nil {
		collect(n.On, path, func(f Fact) {
			if f.Part != Exists {
				f.Part += SwitchedOn
				add(f)
			}
		})
	}
	add(Fact{path, Exists, nil})
	add(Fact{path, LeadLines, significant(n.Lead)})
	add(Fact{path, HeadLines, significant(n.Head)})
	if n.Container {
		add(Fact{path, TailLines, significant(n.Tail)})
	}
	before := ""
	for _, child := range n.Nodes {
		at := within(path, child.Key)
		add(Fact{at, Follows, []string{before}})
		collect(child, at, add)
		before = child.Key
	}
}

// UnknownLines returns the numbers, from 1, of the lines of a tree that are not in a base, without comments.
func UnknownLines(root *Node, b Base) map[int]bool {
	unknown := map[int]bool{}
	line := 1
	var number func(*Node, []string)
	number = func(n *Node, path []string) {
		line += len(n.Lead)
		has := b.Has(Fact{path, HeadLines, significant(n.Head)})
		for range n.Head {
			if !has {
				unknown[line] = true
			}
			line++
		}
		for _, child := range n.Nodes {
			number(child, within(path, child.Key))
		}
		line += len(n.Tail)
	}
	number(root, nil)
	return unknown
}

func within(path []string, key string) []string { return append(slices.Clip(path), key) }

// significant returns the trimmed lines that are not blank.
func significant(lines []string) []string {
	var out []string
	for _, line := range lines {
		if text := strings.Join(strings.Fields(line), " "); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// equalLines reports whether two lists of lines differ in nothing but space.
func equalLines(a, b []string) bool { return slices.Equal(significant(a), significant(b)) }

// equal reports whether two trees differ in nothing but space.
func equal(a, b *Node) bool { return equalLines(a.Lines(), b.Lines()) }
