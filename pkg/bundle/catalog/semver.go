package catalog

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/alpha/template/semver"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// Archetypes returns the name prefixes of channels of the semver template.
func Archetypes() []string { return []string{"candidate", "fast", "stable"} }

// semverChannel matches the name of a channel of the semver template.
var semverChannel = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(candidate|fast|stable)-v\d+(\.\d+)?$`) })

// archetype returns the prefix of a channel of the semver template, "" for any other channel.
func archetype(channel string) string {
	if m := semverChannel().FindStringSubmatch(channel); m != nil {
		return m[1]
	}
	return ""
}

// applySemver generates the channels of a package from the versions of its bundles: those in its existing semver channels
// and the new ones. It returns the default channel.
func (a *adder) applySemver(ctx context.Context, target *file, sources []*Source) (string, error) {
	pkg := sources[0].Package
	t := &semverInput{members: map[string][]string{}}
	for _, b := range a.blobs {
		if b.channel == nil || b.channel.Package != pkg || archetype(b.channel.Name) == "" {
			continue
		}
		if strings.Contains(b.channel.Name, ".") {
			t.minor = true
		} else {
			t.major = true
		}
		for _, e := range b.channel.Entries {
			t.add(archetype(b.channel.Name), e.Name)
		}
	}
	if !t.major {
		t.minor = true
	}
	from := map[string]*Source{}
	for _, s := range sources {
		from[s.Name] = s
		channels := a.o.Channels
		if len(channels) == 0 {
			channels = slices.DeleteFunc(slices.Clone(s.Channels), func(c string) bool { return !slices.Contains(Archetypes(), c) })
		}
		if len(channels) == 0 {
			a.problems.Addf(s.csv.Position, "the annotations of bundle %s list no channel of the semver template (%s); set one with --channel", s.Name, strings.Join(Archetypes(), ", "))
		}
		for _, c := range channels {
			t.add(c, s.Name)
		}
	}
	if len(a.problems) > 0 {
		return "", nil
	}
	bundles := map[string]*declcfg.Bundle{}
	for _, b := range a.blobs {
		if b.bundle != nil && b.bundle.Package == pkg {
			bundles[b.bundle.Name] = b.bundle
		}
	}
	text, err := t.text()
	if err != nil {
		return "", err
	}
	// The template identifies bundles by image; here, by name.
	render := func(_ context.Context, name string) (*declcfg.DeclarativeConfig, error) {
		bundle, ok := bundles[name]
		if !ok {
			return nil, fmt.Errorf("channel entry %s has no olm.bundle", name)
		}
		copied := *bundle
		copied.Image = name
		return &declcfg.DeclarativeConfig{Bundles: []declcfg.Bundle{copied}}, nil
	}
	config, err := new(semver.Factory).CreateTemplate(render).Render(ctx, bytes.NewReader(text))
	if err != nil {
		a.problems.Addf(sources[len(sources)-1].csv.Position, "the semver template: %v", err)
		return "", nil
	}
	for _, channel := range config.Channels {
		b := a.channelBlob(pkg, channel.Name)
		if b != nil && equalEntries(b.channel.Entries, channel.Entries) {
			continue
		}
		if b == nil {
			b = a.newChannel(target, sources[len(sources)-1], channel.Name)
		}
		b.channel.Entries = channel.Entries
		for _, e := range channel.Entries {
			if s := from[e.Name]; s != nil {
				b.setOrigin(s)
			}
		}
		b.changed = true
	}
	return config.Packages[0].DefaultChannel, nil
}

func equalEntries(a, b []declcfg.ChannelEntry) bool {
	return slices.EqualFunc(a, b, func(x, y declcfg.ChannelEntry) bool { return describeEdges(x) == describeEdges(y) && x.Name == y.Name })
}

// A semverInput is the input of operator-registry's semver template.
type semverInput struct {
	minor, major bool
	members      map[string][]string
}

func (t *semverInput) add(archetype, bundle string) {
	if !slices.Contains(t.members[archetype], bundle) {
		t.members[archetype] = append(t.members[archetype], bundle)
	}
}

func (t *semverInput) text() ([]byte, error) {
	fields := map[string]any{"schema": "olm.semver", "generateMinorChannels": t.minor, "generateMajorChannels": t.major}
	for archetype, names := range t.members {
		var images []any
		for _, name := range names {
			images = append(images, map[string]any{"image": name})
		}
		fields[archetype] = map[string]any{"bundles": images}
	}
	return manifest.Encode(fields)
}
