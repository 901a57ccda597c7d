package bundle

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// PackageVersion is one version of a package as the package manifest format keeps it: a folder of
// manifests.
type PackageVersion struct {
	// Dir is the folder as a person names it, Files its files by name.
	Dir   string
	Files map[string][]byte
}

// Converted is the bundle of a version.
type Converted struct {
	// Version is the name of the version's folder, CSV the name of its CSV.
	Version, CSV string
	// Channels are the channels that the bundle is in.
	Channels []string
	// Files are the bundle's files, relative to the folder with its Dockerfile.
	Files map[string][]byte
}

// convertedDir is the folder of a converted bundle beside its Dockerfile.
const convertedDir = "bundle"

// versionFolder is a version on its way to a bundle.
type versionFolder struct {
	PackageVersion
	csv       *manifest.Object
	scorecard string
	manifests []string
}

// Convert makes a bundle of each version of a package. Manifests are taken over byte for byte. A
// version is in the channels whose head it is, or whose head it leads to by replaces; one that no
// channel leads to is in the default channel. The error is manifest.Problems, all that is wrong.
func Convert(pkg *Package, versions []PackageVersion, builder string) ([]Converted, []Note, error) {
	var (
		notes    []Note
		problems manifest.Problems
		all      []*versionFolder
	)
	byName := map[string]*versionFolder{}
	for _, v := range versions {
		c := &versionFolder{PackageVersion: v}
		more, wrong := c.read()
		notes, problems = append(notes, more...), append(problems, wrong...)
		if c.csv == nil {
			continue
		}
		if other := byName[c.csv.Name()]; other != nil {
			problems = append(problems, manifest.Problem{Position: c.csv.Locate("metadata", "name"),
				Problem: fmt.Sprintf("the CSV %s is in %s too; each version has a name of its own", c.csv.Name(), other.Dir)})
			continue
		}
		byName[c.csv.Name()] = c
		all = append(all, c)
	}
	channels, more, wrong := membership(pkg, byName)
	notes, problems = append(notes, more...), append(problems, wrong...)
	if pkg.Default() == "" {
		problems = append(problems, manifest.Problem{Position: pkg.Locate(), Problem: "has no channel and no defaultChannel; name the channel that the bundles belong to"})
	}
	for _, p := range pkg.CheckDefault() {
		notes = append(notes, Note{Position: p.Position, Subject: "the default channel " + pkg.DefaultChannelName,
			Reason: "is none of the package's channels", Advice: "check its spelling"})
	}
	if len(problems) > 0 {
		return nil, notes, problems
	}
	var bundles []Converted
	for _, c := range all {
		in := channels[c.csv.Name()]
		if len(in) == 0 {
			in = []string{pkg.Default()}
			notes = append(notes, Note{Subject: c.csv.Name(), Reason: "is led to by no channel of the package; it gets the default channel " + pkg.Default()})
		}
		made, err := c.bundle(pkg, in, builder)
		if err != nil {
			return nil, notes, err
		}
		bundles = append(bundles, made)
	}
	return bundles, notes, nil
}

// membership finds the channels of each CSV by following replaces from the heads.
func membership(pkg *Package, byName map[string]*versionFolder) (map[string][]string, []Note, manifest.Problems) {
	var (
		notes    []Note
		problems manifest.Problems
	)
	channels := map[string][]string{}
	for i, channel := range pkg.Channels {
		seen := map[string]bool{}
		for name := channel.CurrentCSVName; name != ""; {
			c := byName[name]
			if c == nil {
				if name == channel.CurrentCSVName {
					notes = append(notes, Note{Position: pkg.Locate("channels", fmt.Sprint(i), "currentCSV"), Dropped: true,
						Subject: "channel " + channel.Name, Reason: "has the head " + name + ", which no folder holds; no bundle is in the channel because of it",
						Advice: "add the folder of that version, or correct the name"})
				}
				break // the rest of the chain was not kept
			}
			seen[name] = true
			channels[name] = append(channels[name], channel.Name)
			if name = textAt(c.csv.Fields, "spec", "replaces"); seen[name] {
				problem := manifest.Problem{Position: c.csv.Locate("spec", "replaces"),
					Problem: fmt.Sprintf("%s replaces %s, which leads back to it; correct one of them", c.csv.Name(), name)}
				if !slices.ContainsFunc(problems, func(p manifest.Problem) bool { return p.Position == problem.Position }) {
					problems = append(problems, problem)
				}
				break
			}
		}
	}
	return channels, notes, problems
}

// read finds out what the files of a version are.
func (c *versionFolder) read() (notes []Note, problems manifest.Problems) {
	var objects []manifest.Object
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		file := path.Join(c.Dir, name)
		switch path.Ext(name) {
		case ".yaml", ".yml", ".json":
		default:
			notes = append(notes, Note{Subject: file, Reason: "is no manifest and is not in the bundle", Dropped: true})
			continue
		}
		found, wrong := manifest.Decode(file, c.Files[name])
		problems = append(problems, wrong...)
		if len(wrong) > 0 {
			continue
		}
		if len(found) != 1 {
			if len(found) == 0 {
				notes = append(notes, Note{Subject: file, Reason: "is empty and is not in the bundle", Dropped: true})
				continue
			}
			problems = append(problems, manifest.Problem{Position: found[1].Position,
				Problem: fmt.Sprintf("is object 2 of %d in the file, and OLM reads the first one only; give each object a file of its own", len(found))})
			continue
		}
		o := found[0]
		switch {
		case o.Kind() == kindCSV && o.Group() == groupOLM:
			if c.csv != nil {
				problems = append(problems, manifest.Problem{Position: o.Position,
					Problem: fmt.Sprintf("is a second CSV in the folder, after %s; a version has one", c.csv.Position)})
				continue
			}
			c.csv = &o
		case o.Group() == groupScorecard && o.Kind() == "Configuration":
			c.scorecard = name // Check tells of a second one
			objects = append(objects, o)
			continue
		case !Supported(o.Kind()):
			notes = append(notes, new(collection).leftOut(o))
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
	if too, ok := err.(manifest.Problems); ok {
		problems = append(problems, too...)
	}
	if len(found.problems) == 0 {
		// The manifests are taken over as they are, so that nothing in them is lost.
		notes = append(notes, slices.DeleteFunc(found.notes, func(n Note) bool { return n.Dropped })...)
	}
	for _, crd := range found.oldCRDs {
		notes = append(notes, Note{Position: crd.Locate("apiVersion"), Subject: crd.String(),
			Reason: "is of apiextensions.k8s.io/v1beta1, which Kubernetes has not served since 1.22", Advice: "bundles for newer clusters need it as v1"})
	}
	if c.csv == nil && len(problems) == 0 {
		problems = append(problems, manifest.Problem{Position: manifest.Position{File: c.Dir},
			Problem: "holds no ClusterServiceVersion; add the version's CSV, or move the folder elsewhere if it is none of a version"})
	}
	if c.csv != nil && len(problems) == 0 {
		if version := textAt(c.csv.Fields, "spec", "version"); version != "" && version != strings.TrimPrefix(path.Base(c.Dir), "v") {
			notes = append(notes, Note{Position: c.csv.Locate("spec", "version"), Subject: c.csv.Name(),
				Reason: "is version " + version + " in a folder for " + path.Base(c.Dir)})
		}
	}
	return notes, problems
}

// bundle lays the files of a version out as a bundle.
func (c *versionFolder) bundle(pkg *Package, channels []string, builder string) (Converted, error) {
	annotation := func(key, otherwise string) string {
		if value := textAt(c.csv.Fields, "metadata", "annotations", key); value != "" {
			return value
		}
		return otherwise
	}
	meta := Metadata{
		Dir: convertedDir, Package: pkg.PackageName, Channels: strings.Join(channels, ","), DefaultChannel: pkg.Default(),
		// Who made the operator stays on record, whoever made its bundle.
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
