package action

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/watches"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// kindOf returns the kind of a resource in Kubernetes.
func kindOf(r project.Resource) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.QualifiedGroup(), Version: r.Version, Kind: r.Kind}
}

// resourceOf returns the resource of a kind in PROJECT, or for a kind of another project one with the regular plural.
func resourceOf(config *project.Config, gvk schema.GroupVersionKind) (r project.Resource, own bool) {
	for _, r := range config.Resources() {
		if kindOf(r) == gvk {
			return r, true
		}
	}
	return project.Resource{
		GVK: project.GVK{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind}, Plural: project.RegularPlural(gvk.Kind),
	}, false
}

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
		if w.GroupVersionKind() != kindOf(r) {
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
	return editWatches(tree, func(data []byte) ([]byte, error) {
		gvk := kindOf(r)
		return watches.Add(data, watches.Watch{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Chart: chart, WatchDependentResources: true})
	})
}

// removeWatch removes the entry of a kind from watches.yaml.
func removeWatch(tree *worktree.Tree, r project.Resource) error {
	return editWatches(tree, func(data []byte) ([]byte, error) { return watches.Remove(data, kindOf(r)) })
}

func editWatches(tree *worktree.Tree, edit func([]byte) ([]byte, error)) error {
	data, err := tree.ReadFile(watches.FileName)
	if err != nil {
		return fmt.Errorf("reading %s: %w", watches.FileName, diag.Cause(err))
	}
	edited, err := edit(data)
	if err != nil {
		return err
	}
	tree.WriteFile(watches.FileName, edited, worktree.FileMode)
	return nil
}
