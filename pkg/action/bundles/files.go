package bundles

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A manifestReader reads the manifests of directories.
type manifestReader struct {
	*action.Config
	objects  []manifest.Object
	notes    diag.Findings
	problems diag.Findings
}

// read reads the manifests of a directory, and of its subdirectories if deep is true, sorted by path.
func (r *manifestReader) read(dir string, deep bool, keep func(manifest.Object) bool) {
	top := r.Absolute(dir)
	err := afero.Walk(r.FS, top, func(p string, info fs.FileInfo, err error) error {
		rel, _ := filepath.Rel(top, p)
		name := path.Join(filepath.ToSlash(dir), filepath.ToSlash(rel))
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, diag.Cause(err))
		}
		if p == top {
			if !info.IsDir() {
				return fmt.Errorf("%s must be a directory with the operator's manifests", name)
			}
			return nil
		}
		hidden := strings.HasPrefix(info.Name(), ".")
		if hidden {
			r.skip(name, "is hidden and was not read", "rename it if it belongs to the operator")
		}
		switch {
		case info.IsDir() && (hidden || !deep):
			return filepath.SkipDir
		case info.IsDir() || hidden:
			return nil
		}
		return r.file(p, name, keep)
	})
	if err != nil {
		r.problems = append(r.problems, diag.Finding{Position: diag.Position{File: filepath.ToSlash(dir)}, Problem: strings.TrimPrefix(err.Error(), "reading "+filepath.ToSlash(dir)+": ")})
	}
}

func (r *manifestReader) skip(name, reason, advice string) {
	r.notes = append(r.notes, diag.Finding{Object: name, Problem: reason, Fix: advice, Severity: diag.Warning})
}

// file reads the objects of one file. A file without the extension of a manifest is one if it contains objects.
func (r *manifestReader) file(p, name string, keep func(manifest.Object) bool) error {
	info, err := r.FS.Stat(p)
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, diag.Cause(err))
	}
	if !info.Mode().IsRegular() {
		r.skip(name, "is not a regular file and was not read", "")
		return nil
	}
	if manifest.IsKustomization(name) {
		r.skip(name, "is a kustomization and was not read", "build it, and use the output as the input")
		return nil
	}
	var (
		objects  []manifest.Object
		problems diag.Findings
	)
	data, err := safeyaml.ReadFile(r.FS, p, safeyaml.MaxSize)
	if _, ok := errors.AsType[*safeyaml.Error](err); ok {
		problems = diag.Findings{manifest.Unbounded(name, err)}
	} else if err != nil {
		return fmt.Errorf("reading %s: %w", name, diag.Cause(err))
	} else {
		objects, problems = manifest.Decode(name, data)
	}
	isManifest := slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
	for _, problem := range problems {
		if errors.Is(problem, manifest.ErrNotKubernetes) || !isManifest {
			r.notes = append(r.notes, notKubernetesNote(problem))
			continue
		}
		r.problems = append(r.problems, problem)
	}
	for _, o := range objects {
		if keep == nil || keep(o) {
			r.objects = append(r.objects, o)
		}
	}
	return nil
}
