package bundles

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// locateBase sets the files of the base, which are in the directories bases of InputDir and OutputDir, unless the kustomization
// in a directory reaches another ClusterServiceVersion: a second one would break its build. keepInput keeps the one in InputDir.
func (b *baseRun) locateBase(tree *worktree.Tree, dir string, keepInput bool) error {
	b.input, b.output = bundle.BaseFile(b.InputDir, b.Package), bundle.BaseFile(b.OutputDir, b.Package)
	reached, err := reachedCSVs(tree, dir)
	if err != nil {
		return err
	}
	if b.reached = len(reached) > 0; !b.reached || slices.Contains(reached, b.output) {
		return nil
	}
	b.output = reached[0]
	if i := slices.IndexFunc(reached, func(name string) bool { return strings.HasPrefix(path.Base(name), b.Package+".") }); i >= 0 {
		b.output = reached[i]
	}
	if !keepInput {
		b.input = b.output
	}
	return nil
}

// reachedCSVs returns the files with a ClusterServiceVersion that the kustomization in a directory reaches through the directories
// that it lists. A listed base that does not exist yet is included.
func reachedCSVs(tree *worktree.Tree, dir string) (found []string, err error) {
	visited := map[string]bool{}
	var visit func(dir string) error
	visit = func(dir string) error {
		if visited[dir] {
			return nil
		}
		visited[dir] = true
		data, err := readKustomization(tree, dir)
		if err != nil {
			return err
		}
		for _, entry := range manifest.Listed(data) {
			name := path.Join(dir, entry)
			switch {
			case action.IsOutside(name):
			case strings.HasSuffix(name, ".clusterserviceversion.yaml") || isCSVFile(tree, name):
				found = append(found, name)
			case !tree.IsRegular(name):
				if err := visit(name); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return found, visit(dir)
}

// readKustomization returns the content of the kustomization in a directory, or nil if there is none.
func readKustomization(tree *worktree.Tree, dir string) ([]byte, error) {
	for _, name := range manifest.KustomizationFiles() {
		if data, err := tree.ReadOptional(path.Join(dir, name)); data != nil || err != nil {
			return data, err
		}
	}
	return nil, nil
}

// isCSVFile reports whether a file contains a ClusterServiceVersion.
func isCSVFile(tree *worktree.Tree, name string) bool {
	if !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) {
		return false
	}
	data, err := tree.ReadOptional(name)
	if err != nil || !bytes.Contains(data, []byte("ClusterServiceVersion")) {
		return false
	}
	objects, _ := manifest.Decode(name, data)
	return slices.ContainsFunc(objects, func(o manifest.Object) bool { return o.Kind() == "ClusterServiceVersion" })
}
