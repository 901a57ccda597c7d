package catalog

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/operator-framework/operator-registry/alpha/declcfg"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// join puts a bundle into its channels.
func (a *adder) join(home *file, s *Source) {
	channels := a.o.Channels
	if len(channels) == 0 {
		channels = s.Channels
	}
	if len(channels) == 0 {
		a.problem(s.csv.Position, "the annotations of bundle %s name no channel; name one with --channel", s.Name)
	}
	for _, name := range channels {
		b := a.channelBlob(s.Package, name)
		if b == nil {
			b = a.newChannel(home, s, name)
		}
		i := slices.IndexFunc(b.channel.Entries, func(e declcfg.ChannelEntry) bool { return e.Name == s.Name })
		if i >= 0 {
			if there := b.channel.Entries[i]; !reflect.DeepEqual(normal(there), normal(s.entry)) && b.origin[s.Name] == (manifest.Position{}) {
				a.added.Notes = append(a.added.Notes, fmt.Sprintf("%s: kept as it is: entry %s of channel %s has %s, its CSV %s; delete the entry to take what the CSV says",
					b.place(i, "name"), s.Name, name, edges(there), edges(s.entry)))
			}
			continue
		}
		b.channel.Entries = append(b.channel.Entries, s.entry)
		b.come(s)
		b.changed = true
	}
}

// normal is an entry without what makes no difference.
func normal(e declcfg.ChannelEntry) declcfg.ChannelEntry {
	if len(e.Skips) == 0 {
		e.Skips = nil
	}
	return e
}

// edges says what an entry upgrades from.
func edges(e declcfg.ChannelEntry) string {
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

// come remembers which CSV an entry is from.
func (b *blob) come(s *Source) {
	if b.origin == nil {
		b.origin = map[string]manifest.Position{}
	}
	b.origin[s.Name] = s.csv.Position
}

func (a *adder) newChannel(home *file, s *Source, name string) *blob {
	b := &blob{
		Document: manifest.Document{Position: s.csv.Position}, file: home,
		channel: &declcfg.Channel{Schema: declcfg.SchemaChannel, Name: name, Package: s.Package},
		meta:    &declcfg.Meta{Schema: declcfg.SchemaChannel, Name: name, Package: s.Package},
	}
	a.blobs = append(a.blobs, b)
	return b
}

// fallback is the default channel of a package that has none yet, empty where none stands out.
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

// anyChannel is one channel of a package, or nothing.
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
		a.problem(newest.csv.Position, "package %s has several channels, and neither its catalog nor the bundle's annotations name the default one; name it with --default-channel", newest.Package)
		b.pkg.DefaultChannel = a.anyChannel(newest.Package) // one finding is enough; nothing is written
		return nil
	}
	if a.o.DefaultChannel != "" && a.channelBlob(newest.Package, want) == nil {
		a.problem(newest.csv.Position, "--default-channel %q is no channel of package %s", want, newest.Package)
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
