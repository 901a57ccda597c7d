package action

import (
	"fmt"

	"golang.org/x/mod/modfile"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Layouts are the layouts of projects that a command supports.
type Layouts int

const (
	// CurrentLayout is the layout that Init creates.
	CurrentLayout Layouts = iota
	// RecentLayouts are the current layout and the one before.
	RecentLayouts
)

// Load reads PROJECT from a tree and checks the layout.
func Load(tree *worktree.Tree, layouts Layouts) (*project.Config, error) {
	data, err := tree.ReadFile(project.FileName)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", project.FileName, worktree.Cause(err))
	}
	config, err := project.Parse(data)
	if err != nil {
		return nil, err
	}
	if mod, err := tree.ReadFile("go.mod"); err == nil {
		config.FollowModule(modfile.ModulePath(mod))
	}
	if layouts == RecentLayouts {
		return config, config.CheckOlderLayout()
	}
	return config, config.CheckLayout()
}
