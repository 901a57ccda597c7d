package catalog

import (
	"slices"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
)

// A graph holds the upgrade edges of a channel.
type graph struct {
	entries []declcfg.ChannelEntry
	by      map[string]declcfg.ChannelEntry
	skipped map[string]bool
}

func newGraph(c *declcfg.Channel) *graph {
	g := &graph{entries: c.Entries, by: map[string]declcfg.ChannelEntry{}, skipped: map[string]bool{}}
	for _, e := range c.Entries {
		g.by[e.Name] = e
		for _, skip := range e.Skips {
			g.skipped[skip] = true
		}
	}
	return g
}

// heads returns the entries that no other one replaces or skips, sorted.
func (g *graph) heads() []string {
	incoming := map[string]bool{}
	for _, e := range g.entries {
		incoming[e.Replaces] = true
	}
	var heads []string
	for _, e := range g.entries {
		if !incoming[e.Name] && !g.skipped[e.Name] {
			heads = append(heads, e.Name)
		}
	}
	slices.Sort(heads)
	return heads
}

// chain follows replaces from an entry to the last one in the channel, or to the first repetition.
func (g *graph) chain(from string) []string {
	var names []string
	followed := map[string]bool{}
	for name := from; name != "" && !followed[name]; name = g.by[name].Replaces {
		if _, ok := g.by[name]; !ok {
			break
		}
		followed[name] = true
		names = append(names, name)
	}
	return names
}

// cycles returns the cycles of replaces, each from its first name on, sorted. Cycles with a skipped entry do not count: no
// upgrade reaches them.
func (g *graph) cycles() [][]string {
	const active, done = 1, 2
	state := map[string]int{}
	var cycles [][]string
	for _, e := range g.entries {
		var path []string
		name := e.Name
		for state[name] == 0 {
			if _, ok := g.by[name]; !ok {
				break
			}
			state[name] = active
			path = append(path, name)
			name = g.by[name].Replaces
		}
		if state[name] == active {
			cycle := slices.Clone(path[slices.Index(path, name):])
			if !slices.ContainsFunc(cycle, func(n string) bool { return g.skipped[n] }) {
				first := slices.Index(cycle, slices.Min(cycle))
				cycles = append(cycles, slices.Concat(cycle[first:], cycle[:first]))
			}
		}
		for _, name := range path {
			state[name] = done
		}
	}
	slices.SortFunc(cycles, slices.Compare)
	return cycles
}

// stranded returns the entries without an upgrade path to the head, sorted. As in opm, a chain ends at a skipped entry.
func (g *graph) stranded(head string) []string {
	reached := map[string]bool{}
	for _, name := range g.chain(head) {
		if name != head && g.skipped[name] {
			break
		}
		reached[name] = true
	}
	var names []string
	for _, e := range g.entries {
		if !reached[e.Name] && !g.skipped[e.Name] {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return names
}
