package ansiblekinds

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/runtimekinds"
	"github.com/operon-sdk/operon/pkg/ansiblerole"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/watches"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// RemoveKind implements Kinds: it removes a kind with its test, its manifests, its entries and, unless another kind uses them,
// its role and playbook.
func (Kinds) RemoveKind(_ context.Context, p *action.Project, tree *worktree.Tree, config *project.Config, r project.Resource, o action.DeleteAPIOptions) error {
	data := p.PlainData(config, r, "")
	samples := []scaffold.Data{data}
	sampled := data
	if err := setSample(tree, r, &sampled); err != nil {
		return err
	}
	edited, err := removeRuns(p, tree, config, r)
	if err != nil {
		return err
	}
	samples = append(samples, sampled)
	if err := removeAnsibleWatch(tree, r); err != nil {
		return err
	}
	if err := config.RemoveResource(r.GVK); err != nil {
		return err
	}
	tree.WriteFile(project.FileName, config.Bytes(), worktree.FileMode)
	if name := path.Join(project.CRDBasesDir, r.CRDFile()); !slices.ContainsFunc(config.Resources(), func(other project.Resource) bool {
		return other.CRDName() == r.CRDName()
	}) {
		if content, err := tree.ReadOptional(name); err != nil {
			return err
		} else if content != nil && isEditedCRD(content, r) {
			edited = append(edited, scaffold.Edited(diag.Position{File: name}, ""))
		}
		tree.RemoveIfExists(name)
	}
	if err := generateAnsible(p, tree, config); err != nil {
		return err
	}
	deletion := scaffold.Deletion{Removed: samples, Force: true}
	for _, other := range config.Resources() {
		deletion.Kept = append(deletion.Kept, p.RecordedAPIs(config, other, "")...)
		if other.Kind == r.Kind {
			if err := scaffold.MoveTest(tree, data, p.PlainData(config, other, "")); err != nil {
				return err
			}
		}
	}
	return runtimekinds.Delete(p, tree, deletion, edited, o.Force)
}

// removeRuns removes the role and the playbook of a kind, unless others use them. It returns what the user has edited: files that
// differ from what create api wrote, and the entry in watches.yaml.
func removeRuns(p *action.Project, tree *worktree.Tree, config *project.Config, r project.Resource) (edited diag.Findings, err error) {
	list, err := readAnsibleWatches(tree)
	if err != nil {
		return nil, err
	}
	entry := findAnsibleWatch(list, r)
	if entry == nil {
		return nil, nil // the user has removed it
	}
	scaffolded, variants, err := runVariants(p, config, r)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(variants, func(w watches.AnsibleWatch) bool { return isSameWatch(w, *entry) }) {
		edited = append(edited, scaffold.Edited(entry.Position, ""))
	}
	roles, playbook := runsOf(tree, r, entry)
	others, err := remainingRuns(tree, list, r)
	if err != nil {
		return nil, err
	}
	if playbook != "" && !slices.Contains(others.playbooks, playbook) {
		same, err := isOneOf(tree, playbook, scaffolded[playbook])
		if err != nil {
			return nil, err
		}
		if !same {
			edited = append(edited, scaffold.Edited(diag.Position{File: playbook}, ""))
		}
		tree.Remove(playbook)
	}
	for _, dir := range roles {
		if others.uses(dir) {
			p.Reportf(diag.Note, "kept, as other roles or playbooks use it: %s", dir)
			continue
		}
		names, err := tree.Walk(dir, nil)
		if err != nil {
			return nil, err
		}
		changed := false
		for _, name := range names {
			same, err := isOneOf(tree, name, scaffolded[name])
			if err != nil {
				return nil, err
			}
			changed = changed || !same
			tree.Remove(name)
		}
		if changed {
			edited = append(edited, scaffold.Edited(diag.Position{File: dir}, ""))
		}
	}
	return edited, nil
}

// runVariants returns the files and the entries of watches.yaml that create api may have written for a kind.
func runVariants(p *action.Project, config *project.Config, r project.Resource) (map[string][][]byte, []watches.AnsibleWatch, error) {
	files := map[string][][]byte{}
	var entries []watches.AnsibleWatch
	for _, run := range []action.RunOptions{{}, {Role: true}, {Playbook: true}, {Role: true, Playbook: true}} {
		for _, other := range config.Resources() { // versions of a kind share the files, which name the first one
			if other.Kind != r.Kind {
				continue
			}
			data := p.PlainData(config, other, "")
			data.Resource.Role, data.Resource.Playbook = run.Role, run.Playbook
			rendered, err := scaffold.RunFiles(data)
			if err != nil {
				return nil, nil, err
			}
			for name, content := range rendered {
				files[name] = append(files[name], content)
			}
			if other.GVK != r.GVK {
				continue
			}
			entry, err := scaffold.AnsibleWatch(data)
			if err != nil {
				return nil, nil, err
			}
			entries = append(entries, entry)
		}
	}
	return files, entries, nil
}

// isSameWatch reports whether two entries differ in nothing but their positions.
func isSameWatch(a, b watches.AnsibleWatch) bool {
	a.Position, a.Warnings, a.Comments = diag.Position{}, nil, nil
	b.Position, b.Warnings, b.Comments = diag.Position{}, nil, nil
	return reflect.DeepEqual(a, b)
}

// isOneOf reports whether a file has one of the contents.
func isOneOf(tree *worktree.Tree, name string, contents [][]byte) (bool, error) {
	content, err := tree.ReadFile(name)
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", name, diag.Cause(err))
	}
	content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	return slices.ContainsFunc(contents, func(want []byte) bool { return bytes.Equal(want, content) }), nil
}

// runsOf returns the directories of the roles and the playbook of an entry that are in the project. A playbook that create api has
// written may run the role of the kind.
func runsOf(tree *worktree.Tree, r project.Resource, entry *watches.AnsibleWatch) (roles []string, playbook string) {
	if playbook = localPlaybook(tree, entry.Playbook); playbook == scaffold.PlaybookFile(r.Kind) && tree.Exists(scaffold.RoleDir(r.Kind)) {
		roles = append(roles, scaffold.RoleDir(r.Kind))
	}
	if dir := localRole(tree, entry.Role); dir != "" && !slices.Contains(roles, dir) {
		roles = append(roles, dir)
	}
	return roles, playbook
}

// usedRuns are the roles and playbooks of other kinds than one, and the files that may refer to a role.
type usedRuns struct {
	tree             *worktree.Tree
	roles, playbooks []string
	files            ansiblerole.Files
}

// remainingRuns returns what the entries of other kinds use.
func remainingRuns(tree *worktree.Tree, list []watches.AnsibleWatch, r project.Resource) (*usedRuns, error) {
	files, err := roleFiles(tree)
	if err != nil {
		return nil, err
	}
	used := &usedRuns{tree: tree, files: files}
	for _, w := range list {
		runs := [][2]string{{w.Role, w.Playbook}}
		if w.Finalizer != nil {
			runs = append(runs, [2]string{w.Finalizer.Role, w.Finalizer.Playbook})
		}
		if w.GroupVersionKind() == runtimekinds.GVK(r) {
			runs = runs[1:] // the finalizer's own role or playbook stays
		}
		for _, run := range runs {
			used.roles = append(used.roles, localRole(tree, run[0]))
			used.playbooks = append(used.playbooks, localPlaybook(tree, run[1]))
		}
	}
	delete(files, watches.FileName)
	if own := findAnsibleWatch(list, r); own != nil && !slices.Contains(used.playbooks, localPlaybook(tree, own.Playbook)) {
		delete(files, localPlaybook(tree, own.Playbook))
	}
	return used, nil
}

// uses reports whether an entry, or a file outside of the role, refers to a role.
func (u *usedRuns) uses(dir string) bool {
	if slices.Contains(u.roles, dir) {
		return true
	}
	for name, text := range u.files {
		if ext := path.Ext(name); ext != ".yml" && ext != ".yaml" || strings.HasPrefix(name, dir+"/") {
			continue
		}
		documents, err := safeyaml.Documents[yaml.Node](text)
		if err != nil && bytes.Contains(text, []byte(path.Base(dir))) {
			return true // its references cannot be found
		}
		if slices.ContainsFunc(documents, func(n *yaml.Node) bool { return u.refersTo(n, dir) }) {
			return true
		}
	}
	return false
}

// refersTo reports whether a node contains a reference to a role.
func (u *usedRuns) refersTo(n *yaml.Node, dir string) bool {
	for _, name := range refactor.RoleReferences(n) {
		if localRole(u.tree, name) == dir {
			return true
		}
	}
	return slices.ContainsFunc(n.Content, func(inner *yaml.Node) bool { return u.refersTo(inner, dir) })
}
