package cmd

import (
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// loadAnyProject reads PROJECT of any version and layout that upgrade knows, in the format of the current version. What
// the older ones do not say is read from the code.
func loadAnyProject(tree *worktree.Tree) (*project.Config, error) {
	text, err := tree.ReadFile(project.FileName)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", project.FileName, reason(err))
	}
	text, err = project.Convert(text, formerName(tree), func(dir, kind string) (project.AlphaFacts, error) { return alphaFacts(tree, dir, kind) })
	if err != nil {
		return nil, err
	}
	config, err := project.Parse(text)
	if mod, other := tree.ReadFile("go.mod"); err == nil && other == nil {
		config.FollowModule(modfile.ModulePath(mod))
	}
	if err != nil || config.OlderLayout() {
		return config, err
	}
	return config, config.CheckLayout()
}

// formerName is the name of a project whose PROJECT file holds none: what its objects' names begin with, or else that
// of its folder.
func formerName(tree *worktree.Tree) string {
	if text, err := tree.ReadFile("config/default/kustomization.yaml"); err == nil {
		for line := range strings.Lines(string(text)) {
			prefix, ok := strings.CutPrefix(line, "namePrefix:")
			if name := strings.TrimSuffix(strings.Trim(prefix, " \t\r\n\"'"), "-"); ok && name != "" {
				return name
			}
		}
	}
	return strings.ToLower(filepath.Base(tree.Root()))
}
