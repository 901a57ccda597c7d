package scorecard

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/operator-framework/operator-registry/pkg/registry"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/bundle/validate"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// The media types of a bundle's content.
const (
	registryType = "registry+v1"
	helmType     = "helm+v1"
	plainType    = "plain+v0"
)

// formatCheck validates the layout of a bundle and its metadata like opm. It has opm's messages and log lines, without the
// time, as users compare results.
type formatCheck struct {
	Bundle
	log  strings.Builder
	errs []error
}

func (f *formatCheck) logf(text string) {
	fmt.Fprintf(&f.log, "level=debug msg=%q name=bundle-test\n", text)
}

func (f *formatCheck) failf(format string, args ...any) {
	f.errs = append(f.errs, fmt.Errorf(format, args...))
}

// run returns all problems as one error.
func (f *formatCheck) run() error {
	for _, dir := range []string{manifestsDir, metadataDir} {
		if info, err := fs.Lstat(f.FS, dir); err == nil && info.IsDir() {
			f.logf("Found " + dir + " directory")
			continue
		}
		f.failf("Unable to locate %s directory", dir)
	}
	if len(f.errs) == 0 {
		f.logf("Getting mediaType info from manifests directory")
		found, err := f.mediaType()
		if err != nil {
			f.errs = append(f.errs, err)
		}
		f.metadata(found)
	}
	if len(f.errs) == 0 {
		return nil
	}
	var texts []string
	for _, err := range f.errs {
		texts = append(texts, err.Error())
	}
	return errors.New("Bundle validation errors: " + strings.Join(texts, ","))
}

func (f *formatCheck) mediaType() (string, error) {
	entries, _ := fs.ReadDir(f.FS, manifestsDir) // on failure, there are no files
	found, files := plainType, 0
	for _, entry := range entries {
		if entry.IsDir() {
			continue
		}
		files++
		name := path.Join(manifestsDir, entry.Name())
		data, err := readFile(f.FS, name)
		if err != nil {
			return "", fmt.Errorf("Unable to read file %s in bundle", path.Join(f.Name, name))
		}
		var o unstructured.Unstructured
		if decode(data, 10, &o) == nil && o.GetKind() == csvKind {
			found = registryType
		}
	}
	if files == 0 {
		return "", fmt.Errorf("The directory %s contains no yaml files", path.Join(f.Name, manifestsDir))
	}
	var chart struct{ Name string }
	if data, err := readFile(f.FS, path.Join(manifestsDir, "Chart.yaml")); err == nil && safeyaml.UnmarshalJSON(data, &chart) == nil && chart.Name != "" {
		found = helmType
	}
	return found, nil
}

// metadata validates the annotations and dependencies from the first files that have any.
func (f *formatCheck) metadata(mediaType string) {
	entries, err := fs.ReadDir(f.FS, metadataDir)
	if err != nil {
		f.errs = append(f.errs, err)
	}
	read := func(entry fs.DirEntry, into any) error {
		data, err := readFile(f.FS, path.Join(metadataDir, entry.Name()))
		if err != nil {
			return err
		}
		return decode(data, 30, into)
	}
	var (
		annotations  map[string]string
		dependencies registry.DependenciesFile
	)
	for _, entry := range entries {
		if annotations == nil {
			var file struct {
				Annotations map[string]string `json:"annotations"`
			}
			if read(entry, &file) == nil && file.Annotations != nil {
				annotations = file.Annotations
				continue
			}
		}
		if len(dependencies.Dependencies) == 0 {
			if err := read(entry, &dependencies); err != nil {
				dependencies = registry.DependenciesFile{}
			}
		}
	}
	if annotations == nil {
		f.failf("Could not find annotations file")
	} else {
		f.logf("Found annotations file")
		f.annotations(mediaType, annotations)
	}
	if len(dependencies.Dependencies) == 0 {
		f.logf("Could not find optional dependencies file")
		return
	}
	f.logf("Found dependencies file")
	for _, d := range dependencies.Dependencies {
		f.errs = append(f.errs, validate.DependencyErrors(d)...)
	}
}

func (f *formatCheck) annotations(mediaType string, annotations map[string]string) {
	for _, key := range []string{bundle.MediaTypeLabel, bundle.ManifestsLabel, bundle.MetadataLabel, bundle.PackageLabel, bundle.ChannelsLabel, bundle.DefaultChannelLabel} {
		value, ok := annotations[key]
		if !ok && key != bundle.DefaultChannelLabel {
			f.failf("Missing annotation %q", key)
		}
		if key == bundle.MediaTypeLabel && value != mediaType {
			f.failf("Expecting annotation %q to have value %q instead of %q", key, mediaType, value)
		}
		if value == "" && (key == bundle.ChannelsLabel || key == bundle.DefaultChannelLabel && ok) {
			f.failf("Expecting annotation %q to have non-empty value", key)
		}
	}
}
