package action

import (
	"path"
	"slices"

	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// kustomizedFiles returns the files that the kustomizations in directories include, also through other directories of the project.
func kustomizedFiles(tree *worktree.Tree, dirs ...string) []string {
	var files []string
	for i := 0; i < len(dirs); i++ {
		for _, item := range kustomizedItems(tree, dirs[i]) {
			isNew := !slices.Contains(files, item) && !slices.Contains(dirs, item)
			switch {
			case !isNew || path.IsAbs(item) || IsOutside(item):
			case path.Ext(item) == ".yaml" || path.Ext(item) == ".yml":
				files = append(files, item)
			default:
				dirs = append(dirs, item)
			}
		}
	}
	return files
}

// kustomizedItems returns the paths that the kustomization in a directory includes, relative to the project.
func kustomizedItems(tree *worktree.Tree, dir string) []string {
	var items []string
	for _, base := range manifest.KustomizationFiles() {
		text, err := tree.ReadFile(path.Join(dir, base))
		if err != nil {
			continue
		}
		for _, item := range project.KustomizedItems(text) {
			items = append(items, path.Join(dir, item))
		}
		break
	}
	return items
}

// FollowInstallation makes what is scaffolded for a project refer to objects by the names that config/default gives them.
func FollowInstallation(tree *worktree.Tree, config *project.Config) {
	text, err := tree.ReadFile(project.DefaultKustomization)
	if err != nil {
		return // the project has its manifests in another place
	}
	if installation, ok := project.ReadInstallation(text); ok {
		config.FollowInstallation(installation)
	}
}
