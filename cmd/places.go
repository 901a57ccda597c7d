package cmd

import (
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
)

// placeOf returns what finds a field of a custom resource in the files that flags name, or in the samples of the project. What was read from
// the standard input, or is different in the files, has no place.
func (a *app) placeOf(root string, names []string) func(o *kube.Object, field string) diag.Position {
	if len(names) == 0 {
		names = []string{filepath.Join(root, filepath.FromSlash(project.SamplesDir))}
	}
	objects := sync.OnceValue(func() (objects []manifest.Object) { // mostly, nothing is refused
		for _, name := range names {
			files, _ := a.manifestsIn(name)
			if len(files) == 0 {
				files = []string{name}
			}
			for _, file := range files {
				if data, err := afero.ReadFile(a.FS, a.Absolute(file)); err == nil {
					found, _ := manifest.Decode(a.shown(root, file), data) // what isn't an object isn't refused, either
					objects = append(objects, found...)
				}
			}
		}
		return objects
	})
	return func(o *kube.Object, field string) diag.Position {
		for _, in := range objects() {
			if in.APIVersion() == o.GetAPIVersion() && in.Kind() == o.GetKind() && in.Name() == o.GetName() &&
				(in.Namespace() == "" || in.Namespace() == o.GetNamespace()) {
				return in.Locate(manifest.Steps(field)...)
			}
		}
		return diag.Position{}
	}
}

// shown returns the name of a file in messages: relative to the project if it is in it, and else as it was given.
func (a *app) shown(root, name string) string {
	if rel, err := filepath.Rel(root, a.Absolute(name)); err == nil && filepath.IsLocal(rel) {
		name = rel
	}
	return filepath.ToSlash(strings.TrimPrefix(name, "./"))
}
