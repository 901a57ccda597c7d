package ansiblekinds

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/rename"
	"github.com/operon-sdk/operon/pkg/action/runtimekinds"
	"github.com/operon-sdk/operon/pkg/crd"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/watches"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Rename implements Kinds. Roles and playbooks with the name of a kind are renamed with it.
func (Kinds) Rename(ctx context.Context, p *action.Project, tree *worktree.Tree, before, after *project.Config) (*refactor.Remaining, error) {
	plan, err := rename.Plan(p, tree, before, after, "", nil)
	if err != nil {
		return nil, err
	}
	plan.NoModule, plan.Roles, plan.Variables = true, map[string]string{}, map[string]string{}
	if plan.Files == nil {
		plan.Files = map[string]string{}
	}
	list, err := readAnsibleWatches(tree)
	if err != nil {
		return nil, err
	}
	for i, old := range before.Resources() {
		now := after.Resources()[i]
		pairs, err := scaffold.RunPairs(p.PlainData(before, old, ""), p.PlainData(after, now, ""))
		if err != nil {
			return nil, err
		}
		entry := findAnsibleWatch(list, old)
		if entry != nil && entry.Role+entry.Playbook != "" {
			// If an entry has no role and no playbook, its comments name the ones that it may have.
			pairs = slices.DeleteFunc(pairs, func(pair scaffold.RenderedPair) bool { return pair.From == watches.FileName })
		}
		if !planRuns(tree, &plan, before, entry, old, now) {
			for j := range pairs {
				pairs[j].To = pairs[j].From // they are shared with other kinds, or have names of the user
			}
		}
		// In values of the sample, lines of the template may have another meaning.
		plan.Pairs = slices.DeleteFunc(plan.Pairs, func(pair scaffold.RenderedPair) bool { return pair.From == scaffold.SampleFile(old) })
		plan.Pairs = append(plan.Pairs, pairs...)
		plan.Pairs = append(plan.Pairs, runtimekinds.SamplePairs(before, after, old, now)...)
		if old.GVK == now.GVK && old.Plural == now.Plural {
			continue
		}
		definition, err := crdPair(tree, old, now)
		if err != nil {
			return nil, err
		}
		plan.Pairs = append(plan.Pairs, definition...)
		from, to := p.PlainData(before, old, "").Resource, p.PlainData(after, now, "").Resource
		plan.Variables["_"+from.VariableName()] = "_" + to.VariableName()
		plan.Variables["_"+from.VariableName()+"_spec"] = "_" + to.VariableName() + "_spec"
		plan.Variables[path.Base(scaffold.SampleFile(old))] = path.Base(scaffold.SampleFile(now))
	}
	return runtimekinds.Rename(ctx, p, tree, after, plan)
}

// planRuns plans to rename the role and the playbook with the name of a kind, unless other kinds have that name, too, or the new name
// is taken. It reports whether it renames them.
func planRuns(
	tree *worktree.Tree, plan *refactor.Renaming, config *project.Config, entry *watches.AnsibleWatch, old, now project.Resource,
) bool {
	if old.Kind == now.Kind || entry == nil {
		return false
	}
	role, playbook := scaffold.RoleDir(old.Kind), scaffold.PlaybookFile(old.Kind)
	for _, other := range config.Resources() {
		if strings.EqualFold(other.Kind, old.Kind) && other.GVK != old.GVK {
			return false
		}
	}
	if tree.Exists(scaffold.RoleDir(now.Kind)) || tree.Exists(scaffold.PlaybookFile(now.Kind)) {
		return false
	}
	name := path.Base(role)
	if entry.Role != name && path.Clean(entry.Playbook) != playbook {
		return false
	}
	if tree.Exists(role) {
		plan.Dirs[role], plan.Roles[name] = scaffold.RoleDir(now.Kind), path.Base(scaffold.RoleDir(now.Kind))
	}
	if tree.Exists(playbook) {
		plan.Files[playbook] = scaffold.PlaybookFile(now.Kind)
	}
	return true
}

// crdPair returns the CRD of a kind for the old and the new names. Its schema, and a name that the user chose for the file, stay.
func crdPair(tree *worktree.Tree, old, now project.Resource) ([]scaffold.RenderedPair, error) {
	name, _ := action.CRDFile(tree, old)
	pair := scaffold.RenderedPair{From: name, To: name}
	if name == path.Join(project.CRDBasesDir, old.CRDFile()) {
		pair.To = path.Join(project.CRDBasesDir, now.CRDFile())
	}
	description := pair
	description.Part, description.Old, description.New = true, runtimekinds.SDKDescription(old), runtimekinds.SDKDescription(now)
	for _, side := range []struct {
		resource project.Resource
		text     *string
	}{{old, &pair.Old}, {now, &pair.New}} {
		definition := newAnsibleCRD(side.resource)
		definition.Versions = append(definition.Versions, crd.Version{Name: side.resource.Version, Spec: openSpec()})
		text, err := definition.Marshal()
		if err != nil {
			return nil, fmt.Errorf("CRD of %s: %w", side.resource.Kind, err)
		}
		*side.text = string(text)
	}
	return []scaffold.RenderedPair{description, pair}, nil
}
