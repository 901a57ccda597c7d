package action

import (
	"path"

	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// CRDFile returns the file with the CRD of a resource without Go types, and the plural in it: projects may have files and plurals
// other than those that create api writes. Without a file, it returns the path that create api writes.
func CRDFile(tree *worktree.Tree, r project.Resource) (name, plural string) {
	name = path.Join(project.CRDBasesDir, r.CRDFile())
	if tree.Exists(name) {
		return name, r.Plural
	}
	names, err := tree.Walk(project.CRDBasesDir, nil)
	if err != nil {
		return name, r.Plural
	}
	for _, other := range names {
		if path.Ext(other) != ".yaml" && path.Ext(other) != ".yml" {
			continue
		}
		text, err := tree.ReadFile(other)
		if err != nil {
			continue
		}
		objects, _ := manifest.Decode(other, text)
		for _, o := range objects {
			at := func(path ...string) string { return manifest.TextAt(o.Fields, path...) }
			if at("spec", "group") == r.QualifiedGroup() && at("spec", "names", "kind") == r.Kind && at("spec", "names", "plural") != "" {
				return other, at("spec", "names", "plural")
			}
		}
	}
	return name, r.Plural
}

// crdPlurals returns the plurals of resources in the CRDs of the project.
func crdPlurals(tree *worktree.Tree, resources []project.Resource) map[project.GVK]string {
	plurals := map[project.GVK]string{}
	for _, r := range resources {
		_, plurals[r.GVK] = CRDFile(tree, r)
	}
	return plurals
}
