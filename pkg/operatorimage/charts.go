package operatorimage

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/watches"
)

// projectCharts returns the files that the manager of a Go project reads in its working directory, which is the root of the image:
// watches.yaml and the charts that it names. A project without watches.yaml has none.
func (b *Builder) projectCharts() ([]image.File, error) {
	if _, err := b.FS.Stat(filepath.Join(b.Root, watches.FileName)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	files := map[string]image.File{}
	add := func(name string, at diag.Position) diag.Findings {
		read, problems := image.ReadFiles(b.FS, b.Root, name, name, at)
		for _, file := range read {
			files[file.Name] = file
		}
		return problems
	}
	problems := add(watches.FileName, diag.Position{})
	if err := problems.Err(); err != nil {
		return nil, err
	}
	data, err := afero.ReadFile(b.FS, filepath.Join(b.Root, watches.FileName))
	if err != nil {
		return nil, diag.Finding{Position: diag.Position{File: watches.FileName}, Problem: "cannot read the file: " + diag.Cause(err).Error(), Err: err}
	}
	entries, err := watches.Parse(data)
	if err != nil {
		return nil, err
	}
	added := map[string]bool{}
	for _, w := range entries {
		chart := path.Clean(w.Chart)
		if !fs.ValidPath(chart) || chart == "." {
			problems.Addf(w.Position, "chart %q: must be a directory in the project, relative to its root", w.Chart)
			continue
		}
		if added[chart] {
			continue
		}
		added[chart] = true
		found := add(chart, w.Position)
		problems = append(problems, found...)
		if _, ok := files[chart+"/Chart.yaml"]; !ok && len(found) == 0 {
			problems.Addf(w.Position, "chart %q: is not a chart: it has no Chart.yaml", w.Chart)
		}
	}
	sorted := slices.SortedFunc(maps.Values(files), func(a, b image.File) int { return strings.Compare(a.Name, b.Name) })
	return sorted, problems.Err()
}
