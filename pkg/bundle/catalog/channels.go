package catalog

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/operator-framework/operator-registry/alpha/declcfg"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

func (a *adder) addToChannels(target *file, s *Source) {
	channels := a.o.Channels
	if len(channels) == 0 {
		channels = s.Channels
	}
	if len(channels) == 0 {
		a.problems.Addf(s.csv.Position, "the annotations of bundle %s list no channel; set one with --channel", s.Name)
	}
	for _, name := range channels {
		b := a.channelBlob(s.Package, name)
		if b == nil {
			b = a.newChannel(target, s, name)
		}
		i := slices.IndexFunc(b.channel.Entries, func(e declcfg.ChannelEntry) bool { return e.Name == s.Name })
		if i >= 0 {
			if there := b.channel.Entries[i]; !reflect.DeepEqual(normalize(there), normalize(s.entry)) && b.origin[s.Name] == (diag.Position{}) {
				a.added.Notes = append(a.added.Notes, fmt.Sprintf("%s: entry %s of channel %s was kept: it has %s, but the CSV has %s; delete the entry to use the CSV",
					b.entryPosition(i, "name"), s.Name, name, describeEdges(there), describeEdges(s.entry)))
			}
			continue
		}
		b.channel.Entries = append(b.channel.Entries, s.entry)
		b.setOrigin(s)
		b.changed = true
	}
}

// normalize returns an entry without distinctions that have no effect.
func normalize(e declcfg.ChannelEntry) declcfg.ChannelEntry {
	if len(e.Skips) == 0 {
		e.Skips = nil
	}
	return e
}

// describeEdges returns the upgrade edges of an entry as text.
func describeEdges(e declcfg.ChannelEntry) string {
	var parts []string
	if e.Replaces != "" {
		parts = append(parts, "replaces "+e.Replaces)
	}
	if len(e.Skips) > 0 {
		parts = append(parts, "skips "+strings.Join(e.Skips, ", "))
	}
	if e.SkipRange != "" {
		parts = append(parts, "skipRange "+e.SkipRange)
	}
	if len(parts) == 0 {
		return "no upgrade"
	}
	return strings.Join(parts, ", ")
}

// setOrigin records the CSV of a channel entry.
func (b *blob) setOrigin(s *Source) {
	if b.origin == nil {
		b.origin = map[string]diag.Position{}
	}
	b.origin[s.Name] = s.csv.Position
}

func (a *adder) newChannel(target *file, s *Source, name string) *blob {
	b := &blob{
		Document: manifest.Document{Position: s.csv.Position}, file: target,
		channel: &declcfg.Channel{Schema: declcfg.SchemaChannel, Name: name, Package: s.Package},
		meta:    &declcfg.Meta{Schema: declcfg.SchemaChannel, Name: name, Package: s.Package},
	}
	a.blobs = append(a.blobs, b)
	return b
}

// fallback returns the default channel for a package without one, "" if there is no obvious one.
func (a *adder) fallback(newest *Source) string {
	if newest.DefaultChannel != "" && a.channelBlob(newest.Package, newest.DefaultChannel) != nil {
		return newest.DefaultChannel
	}
	var names []string
	for _, b := range a.blobs {
		if b.channel != nil && b.channel.Package == newest.Package {
			names = append(names, b.channel.Name)
		}
	}
	if len(names) == 1 {
		return names[0]
	}
	return ""
}

// anyChannel returns a channel of a package, or "".
func (a *adder) anyChannel(pkg string) string {
	if b := a.find(pkg, func(b *blob) bool { return b.channel != nil }); b != nil {
		return b.channel.Name
	}
	return ""
}

// setDefault sets the package's default channel.
func (a *adder) setDefault(b *blob, newest *Source, fallback string) (err error) {
	want := cmp.Or(a.o.DefaultChannel, b.pkg.DefaultChannel, fallback)
	if a.o.Template == Semver && a.o.DefaultChannel == "" && (b.pkg.DefaultChannel == "" || archetype(b.pkg.DefaultChannel) != "") {
		want = fallback
	}
	if want == "" {
		a.problems.Addf(newest.csv.Position, "package %s has several channels but no default in the catalog or the bundle's annotations; set --default-channel", newest.Package)
		b.pkg.DefaultChannel = a.anyChannel(newest.Package) // avoids a second finding; nothing is written
		return nil
	}
	if a.o.DefaultChannel != "" && a.channelBlob(newest.Package, want) == nil {
		a.problems.Addf(newest.csv.Position, "--default-channel %q: not a channel of package %s", want, newest.Package)
		return nil
	}
	if b.end > 0 && b.pkg.DefaultChannel == want {
		return nil
	}
	b.pkg.DefaultChannel, b.changed = want, true
	if b.end == 0 {
		b.Data, err = encode(b.file, b.pkg)
		return err
	}
	b.Data, err = editText(b.file, b.Data, "defaultChannel", want)
	return err
}
