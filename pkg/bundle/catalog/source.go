package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/pkg/registry"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A Source is a bundle to add to a catalog.
type Source struct {
	// Name, Package and Version identify the bundle.
	Name, Package string
	Version       semver.Version
	// Channels and DefaultChannel are from its annotations; both may be empty.
	Channels       []string
	DefaultChannel string

	csv      manifest.Object
	typed    v1alpha1.ClusterServiceVersion
	registry *registry.Bundle
	entry    declcfg.ChannelEntry
	bundle   declcfg.Bundle
}

// CSV returns the position of the bundle's CSV.
func (s *Source) CSV() diag.Position { return s.csv.Position }

// Image returns the image that the catalog has for the bundle.
func (s *Source) Image() string { return s.bundle.Image }

const (
	manifestsDir = "manifests"
	metadataDir  = "metadata"
)

// ReadBundle reads a bundle directory. dir is its name in messages.
func ReadBundle(fsys fs.FS, dir string) (*Source, diag.Findings) {
	r := &reader{fs: fsys, dir: dir, s: &Source{}}
	r.readManifests()
	r.readMetadata()
	if len(r.problems) == 0 {
		r.finish()
	}
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	return r.s, nil
}

// A reader reads a bundle and collects its problems.
type reader struct {
	fs       fs.FS
	dir      string
	s        *Source
	objects  []*unstructured.Unstructured
	notes    registry.Annotations
	depends  []*registry.Dependency
	props    []registry.Property
	problems diag.Findings
	// read limits the total size of the files.
	read safeyaml.Set
}

// files returns the YAML and JSON files of a directory by name.
func (r *reader) files(subdir string) map[string][]byte {
	at := diag.Position{File: path.Join(r.dir, subdir)}
	entries, err := fs.ReadDir(r.fs, subdir)
	if err != nil {
		text := "cannot be read: " + diag.Cause(err).Error()
		if errors.Is(err, fs.ErrNotExist) {
			text = "no such directory; a bundle has the directories manifests and metadata"
		}
		r.problems.Addf(at, "%s", text)
		return nil
	}
	files := map[string][]byte{}
	for _, e := range entries {
		name := path.Join(subdir, e.Name())
		if strings.HasPrefix(e.Name(), ".") || !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) {
			continue
		}
		if !e.Type().IsRegular() {
			if !e.IsDir() {
				r.problems.Addf(diag.Position{File: path.Join(r.dir, name)}, "is not a regular file; put the manifest itself into the bundle")
			}
			continue
		}
		data, err := safeyaml.ReadFile(r.fs, name, safeyaml.MaxSize)
		if err == nil {
			err = r.read.Check(data)
		}
		if bound, ok := errors.AsType[*safeyaml.Error](err); ok {
			r.problems = append(r.problems, manifest.Unbounded(path.Join(r.dir, name), bound))
			continue
		}
		if err != nil {
			r.problems.Addf(diag.Position{File: path.Join(r.dir, name)}, "cannot be read: %v", diag.Cause(err))
			continue
		}
		files[path.Join(r.dir, name)] = data
	}
	return files
}

// readManifests reads the objects and the CSV among them.
func (r *reader) readManifests() {
	var csvs []manifest.Object
	files := r.files(manifestsDir)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		objects, problems := manifest.Decode(name, files[name])
		r.problems = append(r.problems, problems...)
		for _, o := range objects {
			if o.Kind() == v1alpha1.ClusterServiceVersionKind {
				csvs = append(csvs, o)
			}
			r.objects = append(r.objects, &unstructured.Unstructured{Object: o.Fields})
		}
	}
	switch {
	case files == nil || len(csvs) == 0 && len(r.problems) > 0:
		return
	case len(csvs) == 0:
		r.problems.Addf(diag.Position{File: path.Join(r.dir, manifestsDir)}, "has no ClusterServiceVersion; generate the bundle first")
		return
	case len(csvs) > 1:
		r.problems.Addf(csvs[1].Position, "is a second ClusterServiceVersion, after %s; a bundle has one", csvs[0].Position)
		return
	}
	r.s.csv = csvs[0]
	if !r.checkUpgrades() {
		return // decoding would report the version again, without its position
	}
	if err := csvs[0].Into(&r.s.typed); err != nil {
		if problems, ok := errors.AsType[diag.Findings](err); ok {
			r.problems = append(r.problems, problems...)
		} else {
			r.problems.Addf(csvs[0].Position, "%v", err)
		}
	}
}

// checkUpgrades checks the version and upgrade edges of the CSV. It reports false if the version is invalid.
func (r *reader) checkUpgrades() bool {
	s, csv := r.s, r.s.csv
	s.Name = csv.Name()
	if s.Name == "" {
		r.problems.Addf(csv.Locate("metadata", "name"), "metadata.name of the CSV is required")
	}
	spec, _ := csv.Fields["spec"].(map[string]any)
	version := ""
	if spec["version"] != nil {
		version = fmt.Sprint(spec["version"])
	}
	v, err := semver.Parse(version)
	if err != nil {
		r.problems.Addf(csv.Locate("spec", "version"), "spec.version %q must be a semantic version such as 1.2.3", version)
	}
	s.Version = v
	if spec["replaces"] == s.Name && s.Name != "" {
		r.problems.Addf(csv.Locate("spec", "replaces"), "spec.replaces is the bundle itself; set the previous version")
	}
	skips, _ := spec["skips"].([]any)
	for i, skip := range skips {
		if skip == "" || skip == s.Name {
			r.problems.Addf(csv.Locate("spec", "skips", fmt.Sprint(i)), "spec.skips[%d] %q must be the name of another bundle", i, skip)
		}
	}
	meta, _ := csv.Fields["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	if text, _ := annotations[skipRange].(string); text != "" {
		if _, err := semver.ParseRange(text); err != nil {
			r.problems.Addf(csv.Locate("metadata", "annotations", skipRange), "%s %q must be a range of versions such as >=1.0.0 <1.2.3", skipRange, text)
		}
	}
	return err == nil
}

// skipRange is the CSV annotation with the range of versions that it upgrades from.
const skipRange = "olm.skipRange"

// readMetadata reads the annotations, dependencies and properties, which opm accepts in any file.
func (r *reader) readMetadata() {
	files := r.files(metadataDir)
	found := false
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for _, doc := range manifest.Split(name, files[name]) {
			var content struct {
				Annotations  map[string]string      `json:"annotations"`
				Dependencies []*registry.Dependency `json:"dependencies"`
				Properties   []registry.Property    `json:"properties"`
			}
			if err := safeyaml.UnmarshalJSON(doc.Data, &content); err != nil {
				r.problems.Addf(doc.Position, "%s", plainError(err))
				continue
			}
			if content.Annotations != nil && !found {
				found = true
				r.annotations(doc, content.Annotations)
			}
			for i, d := range content.Dependencies {
				if d == nil || d.Type == "" || len(d.Value) == 0 {
					r.problems.Addf(doc.Locate("dependencies", fmt.Sprint(i)), "dependencies[%d] needs a type and a value", i)
					continue
				}
				r.depends = append(r.depends, d)
			}
			for i, p := range content.Properties {
				if p.Type == "" || len(p.Value) == 0 {
					r.problems.Addf(doc.Locate("properties", fmt.Sprint(i)), "properties[%d] needs a type and a value", i)
					continue
				}
				r.props = append(r.props, p)
			}
		}
	}
	if files != nil && !found {
		r.problems.Addf(diag.Position{File: path.Join(r.dir, metadataDir)}, "has no annotations, which are required for the package and its channels; generate the bundle's metadata")
	}
}

// plainError returns an error of the YAML library without internal prefixes.
func plainError(err error) string {
	text := err.Error()
	for _, prefix := range []string{"error converting YAML to JSON: ", "error unmarshaling JSON: ", "while decoding JSON: ", "json: ", "yaml: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return "is not valid: " + text
}

const annotation = "operators.operatorframework.io.bundle."

func (r *reader) annotations(doc manifest.Document, values map[string]string) {
	r.notes = registry.Annotations{
		PackageName:        values[annotation+"package.v1"],
		Channels:           values[annotation+"channels.v1"],
		DefaultChannelName: values[annotation+"channel.default.v1"],
	}
	if r.notes.PackageName == "" {
		r.problems.Addf(doc.Locate("annotations", annotation+"package.v1"), "%spackage.v1 is required", annotation)
	}
	r.s.Package, r.s.DefaultChannel = r.notes.PackageName, r.notes.DefaultChannelName
	for channel := range strings.SplitSeq(r.notes.Channels, ",") {
		if channel = strings.TrimSpace(channel); channel != "" && !slices.Contains(r.s.Channels, channel) {
			r.s.Channels = append(r.s.Channels, channel)
		}
	}
}

// finish checks the parts against each other and sets the entry and the bundle of the source.
func (r *reader) finish() {
	s, csv := r.s, r.s.csv
	s.entry = declcfg.ChannelEntry{Name: s.Name, Replaces: s.typed.Spec.Replaces, Skips: s.typed.Spec.Skips, SkipRange: s.typed.Annotations[skipRange]}
	s.registry = registry.NewBundle(s.Name, &r.notes, r.objects...)
	s.registry.Dependencies = r.depends
	s.registry.Properties = r.properties()
	if err := s.registry.AllProvidedAPIsInBundle(); err != nil {
		r.problems.Addf(csv.Locate("spec", "customresourcedefinitions", "owned"), "%v; put the CRD's manifest next to the CSV", err)
	}
}

// properties returns the properties of properties.yaml and of the CSV annotation olm.properties.
func (r *reader) properties() []registry.Property {
	all := r.props
	if text := r.s.typed.Annotations["olm.properties"]; text != "" {
		var more []registry.Property
		if err := json.Unmarshal([]byte(text), &more); err != nil {
			r.problems.Addf(r.s.csv.Locate("metadata", "annotations", "olm.properties"), "olm.properties must be a JSON list of properties: %v", err)
		}
		all = append(all, more...)
	}
	var once []registry.Property
	for _, p := range all {
		if !slices.ContainsFunc(once, func(o registry.Property) bool { return o.String() == p.String() }) {
			once = append(once, p)
		}
	}
	return once
}
