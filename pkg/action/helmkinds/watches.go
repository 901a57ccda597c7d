package helmkinds

import (
	"fmt"

	"github.com/operon-sdk/operon/pkg/action/runtimekinds"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/watches"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// readWatches reads watches.yaml.
func readWatches(tree *worktree.Tree) ([]watches.Watch, error) {
	data, err := tree.ReadFile(watches.FileName)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", watches.FileName, diag.Cause(err))
	}
	return watches.Parse(data)
}

// addWatch adds an entry to watches.yaml. With force, it replaces one with another chart.
func addWatch(tree *worktree.Tree, r project.Resource, chart string, force bool) error {
	list, err := readWatches(tree)
	if err != nil {
		return err
	}
	for _, w := range list {
		if w.GroupVersionKind() != runtimekinds.GVK(r) {
			continue
		}
		if w.Chart == chart {
			return nil
		}
		if !force {
			return diag.Finding{Position: w.Position, Problem: fmt.Sprintf("there is an entry for %s already", r.GVK), Fix: "remove it"}
		}
		if err := removeWatch(tree, r); err != nil {
			return err
		}
	}
	return runtimekinds.EditWatches(tree, func(data []byte) ([]byte, error) {
		gvk := runtimekinds.GVK(r)
		return watches.Add(data, watches.Watch{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Chart: chart, WatchDependentResources: true})
	})
}

// removeWatch removes the entry of a kind from watches.yaml.
func removeWatch(tree *worktree.Tree, r project.Resource) error {
	return runtimekinds.EditWatches(tree, func(data []byte) ([]byte, error) { return watches.Remove(data, runtimekinds.GVK(r)) })
}
