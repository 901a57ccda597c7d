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

	"github.com/operon-sdk/operon/pkg/diag"
)

// channels returns the catalog's channels, sorted by package and name.
func (c *Catalog) channels() []declcfg.Channel {
	channels := c.config().Channels
	slices.SortStableFunc(channels, func(a, b declcfg.Channel) int {
		return cmp.Or(strings.Compare(a.Package, b.Package), strings.Compare(a.Name, b.Name))
	})
	return channels
}

// versions returns the valid versions of the catalog's bundles by name.
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

// Text draws the upgrades of every channel for a terminal, from the head down to what it replaces.
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
			writeNames(&out, "%s\n", cmp.Or(channel.Package, "(no package)"))
			last = channel.Package
		}
		mark := ""
		if defaults[channel.Package] == channel.Name {
			mark = " (default)"
		}
		writeNames(&out, "  %s%s\n", channel.Name, mark)
		d := &drawing{out: &out, graph: newGraph(&channel), versions: versions, drawn: map[string]bool{}}
		d.channel()
	}
	return out.String()
}

// writeNames writes a line with names, which stay on it whatever they contain.
func writeNames(out *strings.Builder, format string, names ...string) {
	escaped := make([]any, len(names))
	for i, name := range names {
		escaped[i] = diag.EscapeLine(name)
	}
	fmt.Fprintf(out, format, escaped...)
}

// A drawing is the state of drawing a channel.
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
		d.drawChain(head, mark)
	}
	// The rest is reached by no head: skipped bundles and errors of the catalog.
	for _, e := range d.byVersion() {
		if d.drawn[e.Name] {
			continue
		}
		mark := " (skipped)"
		if !d.skipped[e.Name] {
			mark = " (no upgrade path to a head)"
		}
		d.drawChain(e.Name, mark)
	}
}

// byVersion returns the entries, newest first.
func (d *drawing) byVersion() []declcfg.ChannelEntry {
	entries := slices.Clone(d.entries)
	slices.SortStableFunc(entries, func(a, b declcfg.ChannelEntry) int {
		return cmp.Or(d.versions[b.Name].Compare(d.versions[a.Name]), strings.Compare(a.Name, b.Name))
	})
	return entries
}

// drawChain draws an entry and what it replaces, down to one that is already drawn.
func (d *drawing) drawChain(name, mark string) {
	for {
		e, there := d.by[name]
		if !there {
			writeNames(d.out, "    o %s (not in the channel)\n", name)
			return
		}
		if d.drawn[name] {
			writeNames(d.out, "    * %s (see above)\n", name)
			return
		}
		d.drawn[name] = true
		if mark == "" && d.skipped[name] {
			mark = " (skipped)"
		}
		writeNames(d.out, "    * %s%s\n", name, mark)
		mark = ""
		line := " "
		if e.Replaces != "" {
			line = "|"
		}
		for _, skip := range e.Skips {
			writeNames(d.out, "    %s   skips %s\n", line, skip)
		}
		if e.SkipRange != "" {
			writeNames(d.out, "    %s   skips %s%s\n", line, e.SkipRange, d.inRange(e))
		}
		if e.Replaces == "" {
			return
		}
		fmt.Fprintln(d.out, "    | replaces")
		name = e.Replaces
	}
}

// inRange lists the entries of the channel that a skipRange covers.
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

// Mermaid draws the upgrades as a Mermaid flow chart like opm.
func (c *Catalog) Mermaid() (string, error) {
	config := c.config()
	versions := c.versions()
	// The writer fails on bundles without a version and prints errors about ranges to stderr.
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
