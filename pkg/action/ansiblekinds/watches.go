package ansiblekinds

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/runtimekinds"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/watches"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// readAnsibleWatches reads watches.yaml of an Ansible project. References to environment variables are not replaced, and entries may
// have neither role nor playbook.
func readAnsibleWatches(tree *worktree.Tree) ([]watches.AnsibleWatch, error) {
	data, err := tree.ReadFile(watches.FileName)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", watches.FileName, diag.Cause(err))
	}
	return watches.ParseAnsible(watches.FileName, data, nil)
}

// removeAnsibleWatch removes the entry of a kind from watches.yaml.
func removeAnsibleWatch(tree *worktree.Tree, r project.Resource) error {
	return runtimekinds.EditWatches(tree, func(data []byte) ([]byte, error) { return watches.RemoveAnsible(data, runtimekinds.GVK(r)) })
}

// findAnsibleWatch returns the entry of a kind, or nil.
func findAnsibleWatch(list []watches.AnsibleWatch, r project.Resource) *watches.AnsibleWatch {
	i := slices.IndexFunc(list, func(w watches.AnsibleWatch) bool { return w.GroupVersionKind() == runtimekinds.GVK(r) })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// localRole returns the directory of a role of watches.yaml in the project, or "" for one outside of it, such as a collection's.
func localRole(tree *worktree.Tree, role string) string {
	// In the image, the project's files are in the home directory.
	for _, prefix := range []string{project.RolesDir + "/", "./" + project.RolesDir + "/", "/opt/ansible/" + project.RolesDir + "/"} {
		role = strings.TrimPrefix(role, prefix)
	}
	dir := path.Join(project.RolesDir, role)
	if role == "" || strings.ContainsAny(role, "/$") || !tree.Exists(dir) {
		return ""
	}
	return dir
}

// localPlaybook returns the path of a playbook of watches.yaml in the project, or "" for one outside of it.
func localPlaybook(tree *worktree.Tree, playbook string) string {
	name := path.Clean(strings.TrimPrefix(playbook, "/opt/ansible/"))
	if playbook == "" || path.IsAbs(name) || action.IsOutside(name) || !tree.Exists(name) {
		return ""
	}
	return name
}
