package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/operator-framework/operator-registry/alpha/declcfg"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// A Format is the format of new catalog files.
type Format string

// The formats of catalogs.
const (
	YAML Format = "yaml"
	JSON Format = "json"
)

// A Template determines the upgrade edges of channels.
type Template string

// Basic uses the edges of the CSVs: replaces, skips and the annotation olm.skipRange. Semver derives edges and channels
// from the versions.
const (
	Basic  Template = "basic"
	Semver Template = "semver"
)

// Options configures Add.
type Options struct {
	// Channels lists the channels of the bundles; empty means the channels in each bundle's annotations.
	Channels []string
	// DefaultChannel is the default channel of the package; empty means the existing one, or else the bundle's.
	DefaultChannel string
	Template       Template
	// Format is the format of new files. FormatGiven makes it an error to add to files in the other format.
	Format      Format
	FormatGiven bool
}

// Added is the result of Add.
type Added struct {
	// Files holds the changed files by their path in the catalog directory.
	Files map[string][]byte
	// Notes lists values of the bundles that existing values of the catalog override.
	Notes []string
}

// Image returns the image of a bundle in the catalog, or "".
func (c *Catalog) Image(pkg, name string) string {
	if b := c.find(pkg, func(b *blob) bool { return b.bundle != nil && b.bundle.Name == name }); b != nil {
		return b.bundle.Image
	}
	return ""
}

// find returns the first blob of a package that matches.
func (c *Catalog) find(pkg string, match func(*blob) bool) *blob {
	for _, b := range c.blobs {
		if b.meta.Package == pkg && match(b) {
			return b
		}
	}
	return nil
}

func (c *Catalog) packageBlob(name string) *blob {
	for _, b := range c.blobs {
		if b.pkg != nil && b.pkg.Name == name {
			return b
		}
	}
	return nil
}

func (c *Catalog) channelBlob(pkg, name string) *blob {
	return c.find(pkg, func(b *blob) bool { return b.channel != nil && b.channel.Name == name })
}

// Add adds bundles, which must have images. Existing content stays byte for byte except for the channels that the bundles
// addToChannels and bundles of the same name. The error is a diag.Findings if OLM would not serve the result.
func (c *Catalog) Add(ctx context.Context, sources []*Source, o Options) (*Added, error) {
	sources = slices.Clone(sources)
	slices.SortStableFunc(sources, func(a, b *Source) int {
		return cmp.Or(strings.Compare(a.Package, b.Package), a.Version.Compare(b.Version), strings.Compare(a.Name, b.Name))
	})
	if problems := duplicates(sources); len(problems) > 0 {
		return nil, problems
	}
	a := &adder{Catalog: c, o: o, added: &Added{Files: map[string][]byte{}}}
	for len(sources) > 0 {
		n := slices.IndexFunc(sources, func(s *Source) bool { return s.Package != sources[0].Package })
		if n < 0 {
			n = len(sources)
		}
		if err := a.addPackage(ctx, sources[:n]); err != nil {
			return nil, err
		}
		sources = sources[n:]
	}
	if problems := append(a.problems, c.Check()...); len(problems) > 0 {
		return nil, problems
	}
	return a.added, a.write()
}

// duplicates returns bundles that are given twice.
func duplicates(sources []*Source) diag.Findings {
	var problems diag.Findings
	for i, s := range sources {
		if i == 0 {
			continue
		}
		other := sources[i-1]
		if s.Package == other.Package && s.Name == other.Name {
			problems.Addf(s.csv.Position, "duplicate bundle %s, also from %s", s.Name, other.csv.Position)
		}
	}
	return problems
}

// An adder adds bundles, package by package.
type adder struct {
	*Catalog
	o        Options
	added    *Added
	problems diag.Findings
}

func (a *adder) addPackage(ctx context.Context, sources []*Source) error {
	newest := sources[len(sources)-1]
	target := a.packageFile(newest.Package)
	pkg := a.packageBlob(newest.Package)
	if pkg == nil {
		pkg = &blob{
			Document: manifest.Document{Position: newest.csv.Position}, file: target, changed: true,
			pkg:  &declcfg.Package{Schema: declcfg.SchemaPackage, Name: newest.Package, Description: newest.typed.Spec.Description, Icon: newest.icon()},
			meta: &declcfg.Meta{Schema: declcfg.SchemaPackage, Name: newest.Package},
		}
		a.blobs = append(a.blobs, pkg)
	}
	if wanted := a.o.Format == JSON; a.o.FormatGiven && target.json != wanted {
		a.problems.Addf(diag.Position{File: path.Join(a.dir, target.name)},
			"is not a %s file; omit the format, or convert the file", strings.ToUpper(string(a.o.Format)))
	}
	for _, s := range sources {
		if err := a.addBundle(target, s); err != nil {
			return err
		}
	}
	var fallback string
	if a.o.Template == Semver {
		var err error
		if fallback, err = a.applySemver(ctx, target, sources); err != nil {
			return err
		}
	} else {
		for _, s := range sources {
			a.addToChannels(target, s)
		}
		fallback = a.fallback(newest)
	}
	return a.setDefault(pkg, newest, fallback)
}

// packageFile returns the file for new blobs of a package: the file of its olm.package, or a new one.
func (a *adder) packageFile(pkg string) *file {
	if b := a.packageBlob(pkg); b != nil {
		return b.file
	}
	name := path.Join(pkg, "catalog."+string(a.o.Format))
	for _, f := range a.files {
		if f.name == name {
			return f
		}
	}
	f := &file{name: name, json: a.o.Format == JSON}
	a.files = append(a.files, f)
	return f
}

// addBundle adds a bundle or replaces the one with the same name.
func (a *adder) addBundle(target *file, s *Source) error {
	meta, err := metaOf(s.bundle)
	if err != nil {
		return err
	}
	b := a.find(s.Package, func(b *blob) bool { return b.bundle != nil && b.bundle.Name == s.Name })
	if b == nil {
		b = &blob{Document: manifest.Document{Position: s.csv.Position}, file: target}
		a.blobs = append(a.blobs, b)
	} else if equalJSON(b.meta.Blob, meta.Blob) {
		return nil
	}
	bundle := s.bundle
	b.bundle, b.meta, b.changed = &bundle, meta, true
	b.Data, err = encode(b.file, bundle)
	return err
}

func metaOf(v any) (*declcfg.Meta, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	meta := &declcfg.Meta{}
	return meta, meta.UnmarshalJSON(data)
}

// equalJSON reports whether two JSON texts have equal values.
func equalJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
