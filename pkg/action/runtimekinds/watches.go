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

// ResourceOf returns the resource of a kind in PROJECT, or for a kind of another project one with the plural of its CRD, if the project
// deploys that, or the regular one.
func ResourceOf(config *project.Config, gvk schema.GroupVersionKind) (r project.Resource, own bool) {
	for _, r := range config.Resources() {
		if GVK(r) == gvk {
			return r, true
		}
	}
	r = project.Resource{GVK: project.GVK{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind}, Plural: project.RegularPlural(gvk.Kind)}
	if crd, ok := config.CRDNames(gvk.Group, gvk.Kind); ok {
		r.Plural = crd.Plural
	}
	return r, false
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
