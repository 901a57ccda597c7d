package runtimekinds

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/watches"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// GVK returns the kind of a resource in Kubernetes.
func GVK(r project.Resource) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.QualifiedGroup(), Version: r.Version, Kind: r.Kind}
}

// ResourceOf returns the resource of a kind in PROJECT, or for a kind of another project one with the regular plural.
func ResourceOf(config *project.Config, gvk schema.GroupVersionKind) (r project.Resource, own bool) {
	for _, r := range config.Resources() {
		if GVK(r) == gvk {
			return r, true
		}
	}
	return project.Resource{
		GVK: project.GVK{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind}, Plural: project.RegularPlural(gvk.Kind),
	}, false
}

// ReadWatches reads watches.yaml.
func ReadWatches(tree *worktree.Tree) ([]watches.Watch, error) {
	data, err := tree.ReadFile(watches.FileName)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", watches.FileName, diag.Cause(err))
	}
	return watches.Parse(data)
}

// AddWatch adds an entry to watches.yaml. With force, it replaces one with another chart.
func AddWatch(tree *worktree.Tree, r project.Resource, chart string, force bool) error {
	list, err := ReadWatches(tree)
	if err != nil {
		return err
	}
	for _, w := range list {
		if w.GroupVersionKind() != GVK(r) {
			continue
		}
		if w.Chart == chart {
			return nil
		}
		if !force {
			return diag.Finding{Position: w.Position, Problem: fmt.Sprintf("there is an entry for %s already", r.GVK), Fix: "remove it"}
		}
		if err := RemoveWatch(tree, r); err != nil {
			return err
		}
	}
	return EditWatches(tree, func(data []byte) ([]byte, error) {
		gvk := GVK(r)
		return watches.Add(data, watches.Watch{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Chart: chart, WatchDependentResources: true})
	})
}

// RemoveWatch removes the entry of a kind from watches.yaml.
func RemoveWatch(tree *worktree.Tree, r project.Resource) error {
	return EditWatches(tree, func(data []byte) ([]byte, error) { return watches.Remove(data, GVK(r)) })
}

// EditWatches replaces watches.yaml by what edit returns for its content.
func EditWatches(tree *worktree.Tree, edit func([]byte) ([]byte, error)) error {
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
