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
	manifestsDir    = "manifests"
	metadataDir     = "metadata"
	annotationsFile = "annotations.yaml"
)

// errNoMetadata means that a directory is not a bundle.
var errNoMetadata = errors.New("annotations of a bundle not found, neither in " + metadataDir + "/" + annotationsFile + " nor in other files")

// findAnnotations reads the annotations of a bundle from their file or, if it has none, from the first file that has any.
func findAnnotations(fsys fs.FS) (map[string]string, error) {
	found, err := readAnnotations(fsys, path.Join(metadataDir, annotationsFile))
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
		if found, _ = readAnnotations(fsys, name); len(found) > 0 { // unreadable files have none
			return fs.SkipAll
		}
		return nil
	})
	if err == nil && len(found) == 0 {
		err = errNoMetadata
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

// maxFile is the maximum size of a file in bytes; clusters accept far less.
const maxFile = 8 << 20

func readFile(fsys fs.FS, name string) ([]byte, error) {
	return safeyaml.ReadFile(fsys, name, maxFile)
}

// decode decodes the first document of a file like operator-framework, which reads size bytes to detect JSON.
func decode(data []byte, size int, into any) error {
	if err := safeyaml.Check(data); err != nil {
		return err
	}
	return utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), size).Decode(into)
}
