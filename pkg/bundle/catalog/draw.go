package catalog

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/alpha/property"
)

// channels are the catalog's channels, sorted by package and name.
func (c *Catalog) channels() []declcfg.Channel {
	channels := c.config().Channels
	slices.SortStableFunc(channels, func(a, b declcfg.Channel) int {
		return cmp.Or(strings.Compare(a.Package, b.Package), strings.Compare(a.Name, b.Name))
	})
	return channels
}

// versions are those of the catalog's bundles, by name, as far as they can be told.
func (c *Catalog) versions() map[string]semver.Version {
	versions := map[string]semver.Version{}
	for _, b := range c.config().Bundles {
		props, err := property.Parse(b.Properties)
		if err != nil || len(props.Packages) != 1 {
			continue
		}
		if v, err := semver.Parse(props.Packages[0].Version); err == nil {
			versions[b.Name] = v
		}
	}
	return versions
}

// Text draws the upgrades of every channel for a terminal: the head on top, below it what it replaces.
func (c *Catalog) Text() string {
	defaults := map[string]string{}
	for _, b := range c.blobs {
		if b.pkg != nil {
			defaults[b.pkg.Name] = b.pkg.DefaultChannel
		}
	}
	versions := c.versions()
	var out strings.Builder
	last := ""
	for _, channel := range c.channels() {
		if channel.Package != last {
			fmt.Fprintf(&out, "%s\n", cmp.Or(channel.Package, "(no package)"))
			last = channel.Package
		}
		mark := ""
		if defaults[channel.Package] == channel.Name {
			mark = " (default)"
		}
		fmt.Fprintf(&out, "  %s%s\n", channel.Name, mark)
		d := &drawing{out: &out, graph: newGraph(&channel), versions: versions, drawn: map[string]bool{}}
		d.channel()
	}
	return out.String()
}

// drawing is a channel in the course of being drawn.
type drawing struct {
	*graph
	out      *strings.Builder
	versions map[string]semver.Version
	drawn    map[string]bool
}

func (d *drawing) channel() {
	heads := d.heads()
	for _, head := range heads {
		mark := " (head)"
		if len(heads) > 1 {
			mark = " (one of several heads)"
		}
		d.chainFrom(head, mark)
	}
	// What no chain from a head reaches: skipped bundles, and the faults of a bad catalog.
	for _, e := range d.byVersion() {
		if d.drawn[e.Name] {
			continue
		}
		mark := " (skipped)"
		if !d.skipped[e.Name] {
			mark = " (no upgrade leads to a head)"
		}
		d.chainFrom(e.Name, mark)
	}
}

// byVersion are the entries, the newest first.
func (d *drawing) byVersion() []declcfg.ChannelEntry {
	entries := slices.Clone(d.entries)
	slices.SortStableFunc(entries, func(a, b declcfg.ChannelEntry) int {
		return cmp.Or(d.versions[b.Name].Compare(d.versions[a.Name]), strings.Compare(a.Name, b.Name))
	})
	return entries
}

// chainFrom draws an entry and what it replaces, down to one that is drawn already.
func (d *drawing) chainFrom(name, mark string) {
	for {
		e, there := d.by[name]
		if !there {
			fmt.Fprintf(d.out, "    o %s (not in the channel)\n", name)
			return
		}
		if d.drawn[name] {
			fmt.Fprintf(d.out, "    * %s (see above)\n", name)
			return
		}
		d.drawn[name] = true
		if mark == "" && d.skipped[name] {
			mark = " (skipped)"
		}
		fmt.Fprintf(d.out, "    * %s%s\n", name, mark)
		mark = ""
		line := " "
		if e.Replaces != "" {
			line = "|"
		}
		for _, skip := range e.Skips {
			fmt.Fprintf(d.out, "    %s   skips %s\n", line, skip)
		}
		if e.SkipRange != "" {
			fmt.Fprintf(d.out, "    %s   skips %s%s\n", line, e.SkipRange, d.inRange(e))
		}
		if e.Replaces == "" {
			return
		}
		fmt.Fprintln(d.out, "    | replaces")
		name = e.Replaces
	}
}

// inRange names the entries of the channel that a skipRange covers.
func (d *drawing) inRange(e declcfg.ChannelEntry) string {
	within, err := semver.ParseRange(e.SkipRange)
	if err != nil {
		return " (not a range of versions)"
	}
	var names []string
	for _, other := range d.byVersion() {
		if v, ok := d.versions[other.Name]; ok && other.Name != e.Name && within(v) {
			names = append(names, other.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names, ", ")
}

// Mermaid draws the upgrades as a Mermaid flow chart, as opm does.
func (c *Catalog) Mermaid() (string, error) {
	config := c.config()
	versions := c.versions()
	// The writer fails at bundles without a version, and complains about ranges on the process's stderr.
	config.Bundles = slices.DeleteFunc(config.Bundles, func(b declcfg.Bundle) bool { _, ok := versions[b.Name]; return !ok })
	config.Channels = c.channels()
	for i := range config.Channels {
		channel := &config.Channels[i]
		channel.Entries = slices.Clone(channel.Entries)
		for j := range channel.Entries {
			if _, err := semver.ParseRange(channel.Entries[j].SkipRange); err != nil {
				channel.Entries[j].SkipRange = ""
			}
		}
	}
	var b bytes.Buffer
	if err := declcfg.NewMermaidWriter().WriteChannels(config, &b); err != nil {
		return "", fmt.Errorf("drawing %s: %w", c.dir, err)
	}
	return b.String(), nil
}
