package scorecard

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

const (
	manifestsFolder = "manifests"
	metadataFolder  = "metadata"
	annotationsFile = "annotations.yaml"
)

// ErrNoMetadata tells that a folder is no bundle.
var ErrNoMetadata = errors.New("there are no annotations of a bundle, neither in " + metadataFolder + "/" + annotationsFile + " nor elsewhere")

// findAnnotations reads the annotations of a bundle from their file or, if that has none, from the
// first file that has any.
func findAnnotations(fsys fs.FS) (map[string]string, error) {
	found, err := readAnnotations(fsys, path.Join(metadataFolder, annotationsFile))
	if len(found) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return found, err
	}
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return nil
		}
		if found, _ = readAnnotations(fsys, name); len(found) > 0 { // what cannot be read has none
			return fs.SkipAll
		}
		return nil
	})
	if err == nil && len(found) == 0 {
		err = ErrNoMetadata
	}
	return found, err
}

func readAnnotations(fsys fs.FS, name string) (map[string]string, error) {
	data, err := readFile(fsys, name)
	if err != nil {
		return nil, err
	}
	var file struct {
		Annotations map[string]string `json:"annotations"`
	}
	if err := safeyaml.UnmarshalJSON(data, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", name, plain(err))
	}
	return file.Annotations, nil
}

// maxFile is far beyond what a cluster takes, and far below what hurts.
const maxFile = 8 << 20

func readFile(fsys fs.FS, name string) ([]byte, error) {
	return safeyaml.ReadFile(fsys, name, maxFile)
}

// decode decodes the first document of a file, as operator-framework does, which looks at as many bytes as given to find out
// whether it is JSON.
func decode(data []byte, size int, into any) error {
	if err := safeyaml.Check(data); err != nil {
		return err
	}
	return utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), size).Decode(into)
}
