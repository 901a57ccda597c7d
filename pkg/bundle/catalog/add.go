package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/operator-framework/operator-registry/alpha/declcfg"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// Format is how new files of a catalog are written.
type Format string

// The formats of catalogs.
const (
	YAML Format = "yaml"
	JSON Format = "json"
)

// Template says where the upgrades of a channel come from.
type Template string

// Basic takes them from the CSVs: replaces, skips and the annotation olm.skipRange. Semver makes them,
// and the channels, of the versions.
const (
	Basic  Template = "basic"
	Semver Template = "semver"
)

// Options say how bundles are added.
type Options struct {
	// Channels that the bundles go into; without any those that each bundle's annotations name.
	Channels []string
	// DefaultChannel of the package; empty keeps the package's, or takes the bundle's.
	DefaultChannel string
	Template       Template
	// Format is that of new files. FormatGiven refuses to add to files of the other one.
	Format      Format
	FormatGiven bool
}

// Added is what Add did besides the files.
type Added struct {
	// Files are the changed files by their path in the catalog's folder.
	Files map[string][]byte
	// Notes say what of the bundles did not go in because the catalog says otherwise.
	Notes []string
}

// Image is the image that the catalog has for a bundle already.
func (c *Catalog) Image(pkg, name string) string {
	if b := c.find(pkg, func(b *blob) bool { return b.bundle != nil && b.bundle.Name == name }); b != nil {
		return b.bundle.Image
	}
	return ""
}

// find gives the first blob of a package that matches.
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

// Add puts bundles, which have their images, into the catalog. What is there stays to the byte but for
// the channels that the bundles join and bundles of the same name. Problems mean that the catalog would
// not be served.
func (c *Catalog) Add(ctx context.Context, sources []*Source, o Options) (*Added, error) {
	sources = slices.Clone(sources)
	slices.SortStableFunc(sources, func(a, b *Source) int {
		return cmp.Or(strings.Compare(a.Package, b.Package), a.Version.Compare(b.Version), strings.Compare(a.Name, b.Name))
	})
	if problems := repeated(sources); len(problems) > 0 {
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

// repeated finds bundles that are given twice.
func repeated(sources []*Source) manifest.Problems {
	var problems manifest.Problems
	for i, s := range sources {
		if i == 0 {
			continue
		}
		other := sources[i-1]
		if s.Package == other.Package && s.Name == other.Name {
			problems = append(problems, manifest.Problem{Position: s.csv.Position, Problem: fmt.Sprintf("bundle %s is given twice, also from %s", s.Name, other.csv.Position)})
		}
	}
	return problems
}

// adder adds the bundles of one package after the other.
type adder struct {
	*Catalog
	o        Options
	added    *Added
	problems manifest.Problems
}

func (a *adder) problem(at manifest.Position, format string, args ...any) {
	a.problems = append(a.problems, manifest.Problem{Position: at, Problem: fmt.Sprintf(format, args...)})
}

func (a *adder) addPackage(ctx context.Context, sources []*Source) error {
	newest := sources[len(sources)-1]
	home := a.home(newest.Package)
	pkg := a.packageBlob(newest.Package)
	if pkg == nil {
		pkg = &blob{
			Document: manifest.Document{Position: newest.csv.Position}, file: home, changed: true,
			pkg:  &declcfg.Package{Schema: declcfg.SchemaPackage, Name: newest.Package, Description: newest.typed.Spec.Description, Icon: newest.icon()},
			meta: &declcfg.Meta{Schema: declcfg.SchemaPackage, Name: newest.Package},
		}
		a.blobs = append(a.blobs, pkg)
	}
	if wanted := a.o.Format == JSON; a.o.FormatGiven && home.json != wanted {
		a.problem(manifest.Position{File: path.Join(a.dir, home.name)}, "is not written as %s; leave the format out, or convert the file", strings.ToUpper(string(a.o.Format)))
	}
	for _, s := range sources {
		if err := a.addBundle(home, s); err != nil {
			return err
		}
	}
	var fallback string
	if a.o.Template == Semver {
		var err error
		if fallback, err = a.semver(ctx, home, sources); err != nil {
			return err
		}
	} else {
		for _, s := range sources {
			a.join(home, s)
		}
		fallback = a.fallback(newest)
	}
	return a.setDefault(pkg, newest, fallback)
}

// home is the file that new blobs of a package go to: that of its olm.package, or a new one.
func (a *adder) home(pkg string) *file {
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

// addBundle adds a bundle, or brings that of the same name up to date.
func (a *adder) addBundle(home *file, s *Source) error {
	meta, err := metaOf(s.bundle)
	if err != nil {
		return err
	}
	b := a.find(s.Package, func(b *blob) bool { return b.bundle != nil && b.bundle.Name == s.Name })
	if b == nil {
		b = &blob{Document: manifest.Document{Position: s.csv.Position}, file: home}
		a.blobs = append(a.blobs, b)
	} else if same(b.meta.Blob, meta.Blob) {
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

// same tells whether two JSON texts say the same.
func same(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
