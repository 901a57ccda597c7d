package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/alpha/property"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image/reference"
)

// Check reports everything that prevents OLM from serving the catalog: all that opm validate rejects, with positions.
func (c *Catalog) Check() diag.Findings {
	k := &checker{packages: map[string]*packageBlobs{}}
	k.collectPackages(c)
	k.collect(c)
	for _, name := range slices.Sorted(maps.Keys(k.packages)) {
		k.checkPackage(k.packages[name])
	}
	if len(k.problems) == 0 {
		// This covers the rules not checked above, and new ones of operator-registry.
		if _, err := declcfg.ConvertToModel(c.config()); err != nil {
			k.problems.Addf(diag.Position{File: c.dir}, "%v", err)
		}
	}
	slices.SortStableFunc(k.problems, func(a, b diag.Finding) int {
		if a.File != b.File {
			return strings.Compare(a.File, b.File)
		}
		return a.Line - b.Line
	})
	return k.problems
}

// A packageBlobs is a package with its channels and bundles.
type packageBlobs struct {
	blob     *blob
	channels map[string]*blob
	bundles  map[string]*blob
}

type checker struct {
	packages map[string]*packageBlobs
	problems diag.Findings
}

func (k *checker) collectPackages(c *Catalog) {
	for _, b := range c.blobs {
		if b.pkg == nil {
			continue
		}
		name := b.pkg.Name
		switch other := k.packages[name]; {
		case name == "":
			k.problems.Addf(b.Position, "olm.package has no name")
			continue
		case other != nil:
			k.problems.Addf(b.Locate("name"), "duplicate package %s, also at %s", name, other.blob.Position)
			continue
		}
		if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
			k.problems.Addf(b.Locate("name"), "package name %q: %s", name, strings.Join(wrong, "; "))
		}
		k.packages[name] = &packageBlobs{blob: b, channels: map[string]*blob{}, bundles: map[string]*blob{}}
	}
}

func (k *checker) owner(b *blob, what, pkg string) *packageBlobs {
	if p := k.packages[pkg]; p != nil {
		return p
	}
	if pkg == "" {
		k.problems.Addf(b.Position, "%s has no package", what)
	} else {
		k.problems.Addf(b.Locate("package"), "%s has the package %s, which has no olm.package", what, pkg)
	}
	return nil
}

// collect assigns the channels and bundles to their packages.
func (k *checker) collect(c *Catalog) {
	for _, b := range c.blobs {
		switch {
		case b.channel != nil:
			k.add(b, "channel", b.channel.Name, b.channel.Package, func(p *packageBlobs) map[string]*blob { return p.channels })
		case b.bundle != nil:
			k.add(b, "bundle", b.bundle.Name, b.bundle.Package, func(p *packageBlobs) map[string]*blob { return p.bundles })
		}
	}
}

// add adds a blob to its package, in the map that among selects.
func (k *checker) add(b *blob, kind, name, pkg string, among func(*packageBlobs) map[string]*blob) {
	p := k.owner(b, kind+" "+name, pkg)
	switch {
	case name == "":
		k.problems.Addf(b.Position, "olm.%s has no name", kind)
	case p == nil:
	case among(p)[name] != nil:
		k.problems.Addf(b.Locate("name"), "duplicate %s %s of package %s, also at %s", kind, name, pkg, among(p)[name].Position)
	default:
		among(p)[name] = b
	}
}

func (k *checker) checkPackage(p *packageBlobs) {
	pkg := p.blob.pkg
	switch {
	case len(p.channels) == 0:
		k.problems.Addf(p.blob.Position, "package %s has no channel", pkg.Name)
	case pkg.DefaultChannel == "":
		k.problems.Addf(p.blob.Position, "package %s has no defaultChannel; name one of its channels: %s", pkg.Name, strings.Join(slices.Sorted(maps.Keys(p.channels)), ", "))
	case p.channels[pkg.DefaultChannel] == nil:
		k.problems.Addf(p.blob.Locate("defaultChannel"), "the default channel %s of package %s is not among its channels: %s", pkg.DefaultChannel, pkg.Name, strings.Join(slices.Sorted(maps.Keys(p.channels)), ", "))
	}
	used := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(p.channels)) {
		k.checkChannel(p, p.channels[name], used)
	}
	versions := map[string]*blob{}
	for _, name := range slices.Sorted(maps.Keys(p.bundles)) {
		b := p.bundles[name]
		if !used[name] {
			k.problems.Addf(b.Position, "bundle %s is in no channel of package %s", name, pkg.Name)
		}
		version := k.checkBundle(b)
		if other := versions[version]; other != nil && version != "" {
			k.problems.Addf(b.Position, "bundles %s and %s (%s) have the same version %s", name, other.bundle.Name, other.Position, version)
		}
		versions[version] = b
	}
}

// checkBundle checks a bundle and returns its version with its release, or "".
func (k *checker) checkBundle(b *blob) string {
	bundle := b.bundle
	inline := slices.ContainsFunc(bundle.Properties, func(p property.Property) bool { return p.Type == property.TypeBundleObject })
	if bundle.Image == "" && !inline {
		k.problems.Addf(b.Position, "bundle %s has no image", bundle.Name)
	}
	if err := reference.Check(bundle.Image); err != nil && bundle.Image != "" {
		k.problems.Addf(b.Locate("image"), "image %q of bundle %s: %v", bundle.Image, bundle.Name, err)
	}
	for i, related := range bundle.RelatedImages {
		if err := reference.Check(related.Image); err != nil && related.Image != "" {
			k.problems.Addf(b.Locate("relatedImages", fmt.Sprint(i), "image"), "image %q of bundle %s: %v", related.Image, bundle.Name, err)
		}
	}
	props, err := property.Parse(bundle.Properties)
	if err != nil {
		k.problems.Addf(b.Locate("properties"), "bundle %s: %v", bundle.Name, err)
		return ""
	}
	if len(props.Packages) != 1 {
		k.problems.Addf(b.Locate("properties"), "bundle %s has %d olm.package properties; it needs one", bundle.Name, len(props.Packages))
		return ""
	}
	own := props.Packages[0]
	if own.PackageName != bundle.Package {
		k.problems.Addf(b.Locate("package"), "bundle %s has the package %s, but its olm.package property has %s", bundle.Name, bundle.Package, own.PackageName)
	}
	if _, err := semver.Parse(own.Version); err != nil {
		k.problems.Addf(b.Locate("properties"), "bundle %s: version %q is not a semantic version", bundle.Name, own.Version)
		return ""
	}
	return strings.TrimSuffix(own.Version+"-"+own.Release, "-")
}

// entryPosition returns the position of a field of a channel entry, or of the CSV that the entry is from.
func (b *blob) entryPosition(i int, field string) diag.Position {
	if at, ok := b.origin[b.channel.Entries[i].Name]; ok {
		return at
	}
	return b.Locate("entries", fmt.Sprint(i), field)
}

func (k *checker) checkChannel(p *packageBlobs, b *blob, used map[string]bool) {
	channel := b.channel
	if len(channel.Entries) == 0 {
		k.problems.Addf(b.Position, "channel %s has no entries", channel.Name)
		return
	}
	index, sound := map[string]int{}, true
	for i, e := range channel.Entries {
		used[e.Name] = true
		if first, ok := index[e.Name]; ok {
			k.problems.Addf(b.entryPosition(i, "name"), "channel %s: duplicate entry %s, also at %s", channel.Name, e.Name, b.entryPosition(first, "name"))
			sound = false
			continue
		}
		index[e.Name] = i
		if p.bundles[e.Name] == nil {
			k.problems.Addf(b.entryPosition(i, "name"), "channel %s: entry %s has no olm.bundle", channel.Name, e.Name)
		}
		if e.SkipRange != "" {
			if _, err := semver.ParseRange(e.SkipRange); err != nil {
				k.problems.Addf(b.entryPosition(i, "skipRange"), "skipRange %q of entry %s must be a range of versions such as >=1.0.0 <1.2.3", e.SkipRange, e.Name)
			}
		}
		if slices.Contains(e.Skips, "") {
			k.problems.Addf(b.entryPosition(i, "skips"), "skips of entry %s has an empty name", e.Name)
		}
	}
	if sound {
		k.checkGraph(b, index)
	}
}

// checkGraph checks that every bundle of a channel can be upgraded to its single head.
func (k *checker) checkGraph(b *blob, index map[string]int) {
	g := newGraph(b.channel)
	for _, cycle := range g.cycles() {
		k.problems.Addf(b.entryPosition(index[cycle[0]], "replaces"), "channel %s: the upgrades form a cycle: %s; remove one of these replaces", b.channel.Name, strings.Join(append(cycle, cycle[0]), " replaces "))
	}
	heads := g.heads()
	switch {
	case len(heads) == 0:
		if len(g.cycles()) == 0 {
			k.problems.Addf(b.Position, "channel %s has no head: every entry is replaced or skipped by another", b.channel.Name)
		}
		return
	case len(heads) > 1:
		last := 0
		for _, head := range heads {
			last = max(last, index[head])
		}
		k.problems.Addf(b.entryPosition(last, "name"), "channel %s has %d heads: %s; let one replace the other (spec.replaces of its CSV, or replaces of its entry), or skip it", b.channel.Name, len(heads), strings.Join(heads, ", "))
		return
	}
	for _, name := range g.stranded(heads[0]) {
		k.problems.Addf(b.entryPosition(index[name], "name"), "channel %s: no upgrade path from %s to the head %s; let an entry of the path replace or skip it", b.channel.Name, name, heads[0])
	}
}
