package customresource

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// maxWatches limits the size of watches.yaml.
const maxWatches = 1 << 20

// LoadWatches reads a watches.yaml and returns a reconciler for each entry that parse finds in it, in the order of the file. The
// function create returns the reconciler of an entry or all its problems, and position where the entry is. The error has the
// problems of all entries. If the file does not exist, it wraps fs.ErrNotExist.
func LoadWatches[W, R any](file string, parse func(name string, data []byte) ([]W, error), create func(W) (R, []error), position func(W) diag.Position) ([]R, error) {
	name := filepath.ToSlash(filepath.Clean(file))
	data, err := safeyaml.ReadFile(os.DirFS(filepath.Dir(file)), filepath.Base(file), maxWatches)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, diag.Cause(err))
	}
	entries, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	var result []R
	var findings diag.Findings
	for _, w := range entries {
		reconciler, errs := create(w)
		for _, err := range errs {
			findings.Addf(position(w), "%v", err)
		}
		result = append(result, reconciler)
	}
	if err := findings.Err(); err != nil {
		return nil, err
	}
	return result, nil
}
