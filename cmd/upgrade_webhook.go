package cmd

import (
	"github.com/operon-sdk/operon/pkg/migrate/gocode"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// moveWebhooks moves webhooks from beside the types to where the current scaffold has them. It returns the files of that
// scaffold, which depend on the webhooks that are found.
func (a *app) moveWebhooks(tree *worktree.Tree, config *project.Config, header string) (current map[string][]byte, notes []gocode.Note, err error) {
	found, err := gocode.FindWebhooks(tree, config)
	if err != nil {
		return nil, nil, err
	}
	if current, err = a.currentFiles(config, header, true); err != nil {
		return nil, nil, err
	}
	notes, err = found.Move(current)
	return current, notes, err
}
