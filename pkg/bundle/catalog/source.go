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

	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// Source is a bundle that goes into a catalog.
type Source struct {
	// Name, Package and Version identify it.
	Name, Package string
	Version       semver.Version
	// Channels and DefaultChannel are what its annotations say; both may be empty.
	Channels       []string
	DefaultChannel string

	csv      manifest.Object
	typed    v1alpha1.ClusterServiceVersion
	registry *registry.Bundle
	entry    declcfg.ChannelEntry
	bundle   declcfg.Bundle
}

// CSV is the place of the bundle's CSV, for messages.
func (s *Source) CSV() manifest.Position { return s.csv.Position }

// Image is the image that the catalog names for the bundle.
func (s *Source) Image() string { return s.bundle.Image }

const (
	manifestsDir = "manifests"
	metadataDir  = "metadata"
)

// ReadBundle reads the folder of a bundle. The name dir stands for it in messages.
func ReadBundle(fsys fs.FS, dir string) (*Source, manifest.Problems) {
	r := &reader{fs: fsys, dir: dir, s: &Source{}}
	r.manifests()
	r.metadata()
	if len(r.problems) == 0 {
		r.finish()
	}
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	return r.s, nil
}

// reader collects what is wrong with a bundle while it reads it.
type reader struct {
	fs       fs.FS
	dir      string
	s        *Source
	objects  []*unstructured.Unstructured
	notes    registry.Annotations
	depends  []*registry.Dependency
	props    []registry.Property
	problems manifest.Problems
	// read is what was read of the bundle.
	read safeyaml.Set
}

func (r *reader) problem(at manifest.Position, format string, args ...any) {
	r.problems = append(r.problems, manifest.Problem{Position: at, Problem: fmt.Sprintf(format, args...)})
}

// files are the regular files of a folder that hold YAML or JSON, by name.
func (r *reader) files(folder string) map[string][]byte {
	at := manifest.Position{File: path.Join(r.dir, folder)}
	entries, err := fs.ReadDir(r.fs, folder)
	if err != nil {
		text := "cannot be read: " + cause(err).Error()
		if errors.Is(err, fs.ErrNotExist) {
			text = "no such directory; a bundle has the directories manifests and metadata"
		}
		r.problem(at, "%s", text)
		return nil
	}
	files := map[string][]byte{}
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		if strings.HasPrefix(e.Name(), ".") || !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) {
			continue
		}
		if !e.Type().IsRegular() {
			if !e.IsDir() {
				r.problem(manifest.Position{File: path.Join(r.dir, name)}, "is no regular file; put the manifest itself into the bundle")
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
			r.problem(manifest.Position{File: path.Join(r.dir, name)}, "cannot be read: %v", cause(err))
			continue
		}
		files[path.Join(r.dir, name)] = data
	}
	return files
}

// cause is an error of the file system without its path.
func cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// manifests reads the objects and finds the CSV among them.
func (r *reader) manifests() {
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
		r.problem(manifest.Position{File: path.Join(r.dir, manifestsDir)}, "holds no ClusterServiceVersion; generate the bundle first")
		return
	case len(csvs) > 1:
		r.problem(csvs[1].Position, "is a second ClusterServiceVersion beside the one at %s; a bundle has one", csvs[0].Position)
		return
	}
	r.s.csv = csvs[0]
	if !r.upgrades() {
		return // the Go type would say the same of the version, without its place
	}
	if err := csvs[0].Into(&r.s.typed); err != nil {
		if problems, ok := errors.AsType[manifest.Problems](err); ok {
			r.problems = append(r.problems, problems...)
		} else {
			r.problem(csvs[0].Position, "%v", err)
		}
	}
}

// upgrades checks what the CSV says of its version and of those before it. It reports false for a version
// that is none.
func (r *reader) upgrades() bool {
	s, csv := r.s, r.s.csv
	s.Name = csv.Name()
	if s.Name == "" {
		r.problem(csv.Locate("metadata", "name"), "metadata.name of the CSV is missing")
	}
	spec, _ := csv.Fields["spec"].(map[string]any)
	version := ""
	if spec["version"] != nil {
		version = fmt.Sprint(spec["version"])
	}
	v, err := semver.Parse(version)
	if err != nil {
		r.problem(csv.Locate("spec", "version"), "spec.version %q must be a semantic version such as 1.2.3", version)
	}
	s.Version = v
	if spec["replaces"] == s.Name && s.Name != "" {
		r.problem(csv.Locate("spec", "replaces"), "spec.replaces names the bundle itself; name the version before it")
	}
	skips, _ := spec["skips"].([]any)
	for i, skip := range skips {
		if skip == "" || skip == s.Name {
			r.problem(csv.Locate("spec", "skips", fmt.Sprint(i)), "spec.skips[%d] %q must be the name of another bundle", i, skip)
		}
	}
	meta, _ := csv.Fields["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	if text, _ := annotations[skipRange].(string); text != "" {
		if _, err := semver.ParseRange(text); err != nil {
			r.problem(csv.Locate("metadata", "annotations", skipRange), "%s %q must be a range of versions such as >=1.0.0 <1.2.3", skipRange, text)
		}
	}
	return err == nil
}

// skipRange is the annotation of a CSV that names the versions it upgrades from.
const skipRange = "olm.skipRange"

// metadata reads the annotations, dependencies and properties, which opm takes from any file.
func (r *reader) metadata() {
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
				r.problem(doc.Position, "%s", plain(err))
				continue
			}
			if content.Annotations != nil && !found {
				found = true
				r.annotations(doc, content.Annotations)
			}
			for i, d := range content.Dependencies {
				if d == nil || d.Type == "" || len(d.Value) == 0 {
					r.problem(doc.Locate("dependencies", fmt.Sprint(i)), "dependencies[%d] needs a type and a value", i)
					continue
				}
				r.depends = append(r.depends, d)
			}
			for i, p := range content.Properties {
				if p.Type == "" || len(p.Value) == 0 {
					r.problem(doc.Locate("properties", fmt.Sprint(i)), "properties[%d] needs a type and a value", i)
					continue
				}
				r.props = append(r.props, p)
			}
		}
	}
	if files != nil && !found {
		r.problem(manifest.Position{File: path.Join(r.dir, metadataDir)}, "holds no annotations, which name the package and its channels; generate the bundle's metadata")
	}
}

// plain is an error of the YAML library in words for people.
func plain(err error) string {
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
		r.problem(doc.Locate("annotations", annotation+"package.v1"), "%spackage.v1 is missing: it names the package", annotation)
	}
	r.s.Package, r.s.DefaultChannel = r.notes.PackageName, r.notes.DefaultChannelName
	for channel := range strings.SplitSeq(r.notes.Channels, ",") {
		if channel = strings.TrimSpace(channel); channel != "" && !slices.Contains(r.s.Channels, channel) {
			r.s.Channels = append(r.s.Channels, channel)
		}
	}
}

// finish checks what the parts say of each other, and makes the catalog's view of the bundle.
func (r *reader) finish() {
	s, csv := r.s, r.s.csv
	s.entry = declcfg.ChannelEntry{Name: s.Name, Replaces: s.typed.Spec.Replaces, Skips: s.typed.Spec.Skips, SkipRange: s.typed.Annotations[skipRange]}
	s.registry = registry.NewBundle(s.Name, &r.notes, r.objects...)
	s.registry.Dependencies = r.depends
	s.registry.Properties = r.properties()
	if err := s.registry.AllProvidedAPIsInBundle(); err != nil {
		r.problem(csv.Locate("spec", "customresourcedefinitions", "owned"), "%v; put the CRD's manifest beside the CSV", err)
	}
}

// properties are those of properties.yaml and of the CSV's annotation olm.properties.
func (r *reader) properties() []registry.Property {
	all := r.props
	if text := r.s.typed.Annotations["olm.properties"]; text != "" {
		var more []registry.Property
		if err := json.Unmarshal([]byte(text), &more); err != nil {
			r.problem(r.s.csv.Locate("metadata", "annotations", "olm.properties"), "olm.properties must be a JSON list of properties: %v", err)
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
