package catalog

import (
	"slices"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
)

// graph is how the entries of a channel follow each other.
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

// heads are the entries that no other one replaces or skips, sorted.
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

// chain follows replaces from an entry to the last one that is in the channel, or to the first repetition.
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

// cycles are the circles of replaces, each from its first name on, sorted. A circle with a skipped entry
// is none: upgrades do not lead there.
func (g *graph) cycles() [][]string {
	const walking, done = 1, 2
	state := map[string]int{}
	var cycles [][]string
	for _, e := range g.entries {
		var way []string
		name := e.Name
		for state[name] == 0 {
			if _, ok := g.by[name]; !ok {
				break
			}
			state[name] = walking
			way = append(way, name)
			name = g.by[name].Replaces
		}
		if state[name] == walking {
			cycle := slices.Clone(way[slices.Index(way, name):])
			if !slices.ContainsFunc(cycle, func(n string) bool { return g.skipped[n] }) {
				first := slices.Index(cycle, slices.Min(cycle))
				cycles = append(cycles, slices.Concat(cycle[first:], cycle[:first]))
			}
		}
		for _, name := range way {
			state[name] = done
		}
	}
	slices.SortFunc(cycles, slices.Compare)
	return cycles
}

// stranded are the entries from which no upgrade leads to the head, sorted. The chain of replaces ends
// at an entry that is skipped, as it does for opm.
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
