package action

import (
	"path"
	"slices"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// CRDFile returns the file with the CRD of a resource without Go types, and the plural in it: projects may have files and plurals
// other than those that create api writes. Without a file, it returns the path that create api writes.
func CRDFile(tree *worktree.Tree, r project.Resource) (name, plural string) {
	for _, crd := range projectCRDs(tree) {
		if crd.Group == r.QualifiedGroup() && crd.Kind == r.Kind {
			return crd.file, crd.Plural
		}
	}
	return path.Join(project.CRDBasesDir, r.CRDFile()), r.Plural
}

// crdNames returns the names of the kinds in the CRDs of the project.
func crdNames(tree *worktree.Tree) []project.CRDNames {
	crds := projectCRDs(tree)
	names := make([]project.CRDNames, len(crds))
	for i, crd := range crds {
		names[i] = crd.CRDNames
	}
	return names
}

// A crdFile is a CRD in a file.
type crdFile struct {
	project.CRDNames
	file string
}

// projectCRDs returns the CRDs of a project. Those that its kustomizations deploy are first, since a file that is left over from another
// plural can be beside them.
func projectCRDs(tree *worktree.Tree) []crdFile {
	files := kustomizedFiles(tree, project.DefaultDir, project.CRDDir)
	if names, err := tree.Walk(project.CRDBasesDir, nil); err == nil { // without the directory, there are none
		for _, name := range names {
			if !slices.Contains(files, name) {
				files = append(files, name)
			}
		}
	}
	var crds []crdFile
	for _, file := range files {
		if path.Ext(file) != ".yaml" && path.Ext(file) != ".yml" {
			continue
		}
		text, err := tree.ReadFile(file)
		if err != nil {
			continue // kustomize reports it
		}
		for _, names := range project.ReadCRDNames(text) {
			crds = append(crds, crdFile{names, file})
		}
	}
	return crds
}
