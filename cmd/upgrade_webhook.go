package cmd

import (
	"github.com/operon-sdk/operon/pkg/modernize"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

// moveWebhooks moves webhooks from beside the types to where today's scaffold has them, and gives the files of that:
// what it writes depends on the webhooks that are found.
func (a *app) moveWebhooks(tree *scaffold.Tree, config *project.Config, header string) (today map[string][]byte, notes []modernize.Note, err error) {
	found, err := modernize.FindWebhooks(tree, config)
	if err != nil {
		return nil, nil, err
	}
	if today, err = a.currentFiles(config, header, true); err != nil {
		return nil, nil, err
	}
	notes, err = found.Move(today)
	return today, notes, err
}
