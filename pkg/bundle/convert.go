package bundle

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// A PackageVersion is the manifests directory of one version in the package manifest format.
type PackageVersion struct {
	// Dir is the directory for messages and results. Files holds its files by name.
	Dir   string
	Files map[string][]byte
}

// Converted is the bundle of one version.
type Converted struct {
	// Version is the base name of the version's directory, CSV the name of its CSV.
	Version, CSV string
	// Channels lists the channels of the bundle.
	Channels []string
	// Files holds the bundle's files by path relative to the directory of its Dockerfile.
	Files map[string][]byte
}

// convertedDir is the directory of a converted bundle beside its Dockerfile.
const convertedDir = "bundle"

// A versionDir is a PackageVersion with the roles of its files.
type versionDir struct {
	PackageVersion
	csv       *manifest.Object
	scorecard string
	manifests []string
}

// Convert returns a bundle for each version of a package. Manifests are copied byte for byte. A bundle is in the channels
// whose head is, or replaces directly or indirectly, its CSV; without any it is in the default channel. The error is a
// diag.Findings with every problem.
func Convert(pkg *Package, versions []PackageVersion, builder string) ([]Converted, diag.Findings, error) {
	var (
		notes    diag.Findings
		problems diag.Findings
		all      []*versionDir
	)
	byName := map[string]*versionDir{}
	for _, v := range versions {
		c := &versionDir{PackageVersion: v}
		more, wrong := c.read()
		notes, problems = append(notes, more...), append(problems, wrong...)
		if c.csv == nil {
			continue
		}
		if other := byName[c.csv.Name()]; other != nil {
			problems.Addf(c.csv.Locate("metadata", "name"),
				"the CSV %s is also in %s; each version needs a unique name", c.csv.Name(), other.Dir)
			continue
		}
		byName[c.csv.Name()] = c
		all = append(all, c)
	}
	channels, more, wrong := channelsByCSV(pkg, byName)
	notes, problems = append(notes, more...), append(problems, wrong...)
	if pkg.Default() == "" {
		problems.Addf(pkg.Locate(), "has no channel and no defaultChannel; name the channel that the bundles belong to")
	}
	for _, p := range pkg.CheckDefault() {
		notes = append(notes, diag.Finding{Position: p.Position, Object: "the default channel " + pkg.DefaultChannelName,
			Problem: "is not one of the package's channels", Fix: "check its spelling"})
	}
	if len(problems) > 0 {
		return nil, notes, problems
	}
	var bundles []Converted
	for _, c := range all {
		in := channels[c.csv.Name()]
		if len(in) == 0 {
			in = []string{pkg.Default()}
			notes = append(notes, diag.Finding{Object: c.csv.Name(), Problem: "is in no upgrade path of a channel; it is added to the default channel " + pkg.Default()})
		}
		made, err := c.bundle(pkg, in, builder)
		if err != nil {
			return nil, notes, err
		}
		bundles = append(bundles, made)
	}
	return bundles, notes, nil
}

// channelsByCSV returns the channels of each CSV, following spec.replaces from the heads.
func channelsByCSV(pkg *Package, byName map[string]*versionDir) (map[string][]string, diag.Findings, diag.Findings) {
	var (
		notes    diag.Findings
		problems diag.Findings
	)
	channels := map[string][]string{}
	for i, channel := range pkg.Channels {
		seen := map[string]bool{}
		for name := channel.CurrentCSVName; name != ""; {
			c := byName[name]
			if c == nil {
				if name == channel.CurrentCSVName {
					notes = append(notes, diag.Finding{Position: pkg.Locate("channels", fmt.Sprint(i), "currentCSV"), Severity: diag.Warning,
						Object: "channel " + channel.Name, Problem: "has the head " + name + ", which no directory contains; it adds no bundle to the channel",
						Fix: "add the directory of that version, or correct the name"})
				}
				break // the rest of the chain is not in the package
			}
			seen[name] = true
			channels[name] = append(channels[name], channel.Name)
			if name = manifest.TextAt(c.csv.Fields, "spec", "replaces"); seen[name] {
				problem := diag.Finding{Position: c.csv.Locate("spec", "replaces"),
					Problem: fmt.Sprintf("%s replaces %s, which forms a cycle; correct one of them", c.csv.Name(), name)}
				if !slices.ContainsFunc(problems, func(p diag.Finding) bool { return p.Position == problem.Position }) {
					problems = append(problems, problem)
				}
				break
			}
		}
	}
	return channels, notes, problems
}

// read sorts the files of a version by their role.
func (c *versionDir) read() (notes diag.Findings, problems diag.Findings) {
	var objects []manifest.Object
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		file := path.Join(c.Dir, name)
		switch path.Ext(name) {
		case ".yaml", ".yml", ".json":
		default:
			notes = append(notes, diag.Finding{Object: file, Problem: "is not a manifest and is not in the bundle", Severity: diag.Warning})
			continue
		}
		found, wrong := manifest.Decode(file, c.Files[name])
		problems = append(problems, wrong...)
		if len(wrong) > 0 {
			continue
		}
		if len(found) != 1 {
			if len(found) == 0 {
				notes = append(notes, diag.Finding{Object: file, Problem: "is empty and is not in the bundle", Severity: diag.Warning})
				continue
			}
			problems = append(problems, diag.Finding{Position: found[1].Position,
				Problem: fmt.Sprintf("is object 2 of %d in the file, and OLM reads only the first one; move each object to its own file", len(found))})
			continue
		}
		o := found[0]
		switch {
		case o.Kind() == kindCSV && o.Group() == groupOLM:
			if c.csv != nil {
				problems.Addf(o.Position, "is a second CSV in the directory, after %s; a version has one", c.csv.Position)
				continue
			}
			c.csv = &o
		case o.Group() == groupScorecard && o.Kind() == "Configuration":
			c.scorecard = name // collect reports duplicates
			objects = append(objects, o)
			continue
		case !IsSupported(o.Kind()):
			notes = append(notes, new(collection).unsupportedNote(o))
			continue
		}
		c.manifests = append(c.manifests, name)
		objects = append(objects, o)
	}
	found := collect(objects)
	problems = append(problems, found.problems...)
	sized := map[string][]byte{}
	for _, name := range c.manifests {
		sized[path.Join(c.Dir, name)] = c.Files[name]
	}
	large, err := CheckSizes(c.Dir, sized)
	notes = append(notes, large...)
	if too, ok := err.(diag.Findings); ok {
		problems = append(problems, too...)
	}
	if len(found.problems) == 0 {
		// Manifests are copied unchanged, so nothing in them is dropped.
		notes = append(notes, slices.DeleteFunc(found.notes, IsLoss)...)
	}
	for _, crd := range found.oldCRDs {
		notes = append(notes, diag.Finding{Position: crd.Locate("apiVersion"), Object: crd.String(),
			Problem: "is of apiextensions.k8s.io/v1beta1, which Kubernetes has not served since 1.22", Fix: "bundles for newer clusters need it as v1"})
	}
	if c.csv == nil && len(problems) == 0 {
		problems.Addf(diag.Position{File: c.Dir},
			"has no ClusterServiceVersion; add the version's CSV, or move the directory if it is not a version")
	}
	if c.csv != nil && len(problems) == 0 {
		if version := manifest.TextAt(c.csv.Fields, "spec", "version"); version != "" && version != strings.TrimPrefix(path.Base(c.Dir), "v") {
			notes = append(notes, diag.Finding{Position: c.csv.Locate("spec", "version"), Object: c.csv.Name(),
				Problem: "is version " + version + " in a directory for " + path.Base(c.Dir)})
		}
	}
	return notes, problems
}

// bundle returns the files of a version in the bundle layout.
func (c *versionDir) bundle(pkg *Package, channels []string, builder string) (Converted, error) {
	annotation := func(key, otherwise string) string {
		if value := manifest.TextAt(c.csv.Fields, "metadata", "annotations", key); value != "" {
			return value
		}
		return otherwise
	}
	meta := Metadata{
		Dir: convertedDir, Package: pkg.PackageName, Channels: strings.Join(channels, ","), DefaultChannel: pkg.Default(),
		// The builder and layout describe how the operator was built, not how the bundle was converted.
		Layout: annotation(annotationLayout, "unknown"), Builder: annotation(annotationBuilder, builder),
		Scorecard: c.scorecard != "",
	}
	made := Converted{Version: path.Base(c.Dir), CSV: c.csv.Name(), Channels: channels, Files: map[string][]byte{}}
	for _, name := range c.manifests {
		made.Files[path.Join(convertedDir, ManifestsDir, name)] = c.Files[name]
	}
	if c.scorecard != "" {
		made.Files[path.Join(convertedDir, ScorecardFile)] = c.Files[c.scorecard]
	}
	var err error
	if made.Files[path.Join(convertedDir, AnnotationsFile)], err = meta.Annotations(); err != nil {
		return made, err
	}
	made.Files[DockerfileName], err = meta.Dockerfile()
	return made, err
}
