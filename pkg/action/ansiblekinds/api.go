package ansiblekinds

import (
	"context"
	"path"
	"slices"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/runtimekinds"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// An ansibleAPI is a new kind of an Ansible project.
type ansibleAPI struct {
	action.CreateAPIOptions
	resource project.Resource
}

// Kinds implements action.Kinds for the kinds whose objects are reconciled by Ansible roles and playbooks.
type Kinds struct{}

// AddKind implements Kinds.
func (Kinds) AddKind(_ context.Context, _ *action.Project, config *project.Config, o action.CreateAPIOptions) (action.Addition, error) {
	api := &ansibleAPI{CreateAPIOptions: o}
	findings := slices.Concat(o.Findings, o.Plugins.CheckKinds())
	if o.Plugins.Layout != nil && o.Plugins.Layout != config.Facts() || o.Plugins.DeployImage {
		findings.Add("--plugins", o.Plugins.String(), "is not for Ansible projects, and this is one")
	}
	resource, others := project.ResolveResource(config, runtimekinds.ResourceOptions(api.CreateAPIOptions))
	api.resource = resource
	return api, append(findings, others...).Err()
}

// AddSteps implements Addition.
func (api *ansibleAPI) AddSteps(p *action.Project, result *action.Result) {
	switch {
	case api.Run.Role:
		result.AddStepf("edit the role in %s, then '%s generate'", scaffold.RoleDir(api.Kind), p.Program)
	case api.Run.Playbook:
		result.AddStepf("edit %s, then '%s generate'", scaffold.PlaybookFile(api.Kind), p.Program)
	default:
		result.AddStepf("add the role or playbook of %s to watches.yaml, then '%s generate'", api.Kind, p.Program)
	}
}

// Apply implements Addition.
func (api *ansibleAPI) Apply(_ context.Context, p *action.Project, tree *worktree.Tree, config *project.Config) error {
	resource := api.resource
	data := p.PlainData(config, resource, "")
	data.Resource.Role, data.Resource.Playbook = api.Run.Role, api.Run.Playbook
	runs, err := scaffold.CreateRuns(tree, data, api.Force)
	if err != nil {
		return err
	}
	if err := addAnsibleWatch(tree, resource, data, api.Force); err != nil {
		return err
	}
	if err := config.UpdateResource(resource); err != nil {
		return err
	}
	tree.WriteFile(project.FileName, config.Bytes(), worktree.FileMode)
	if err := setSample(tree, resource, &data); err != nil {
		return err
	}
	report, err := scaffold.CreateKind(tree, data, api.Force)
	if err != nil {
		return err
	}
	report.Kept = append(report.Kept, runs.Kept...)
	slices.Sort(report.Kept)
	p.ReportKept(report)
	if api.Force { // the schema of an existing kind is scaffolded again, too
		tree.RemoveIfExists(path.Join(project.CRDBasesDir, resource.CRDFile()))
	}
	return generateAnsible(p, tree, config)
}

// addAnsibleWatch adds the entry of a kind to watches.yaml. With force, it replaces one with another role or playbook.
func addAnsibleWatch(tree *worktree.Tree, r project.Resource, data scaffold.Data, force bool) error {
	list, err := readAnsibleWatches(tree)
	if err != nil {
		return err
	}
	wanted, err := scaffold.AnsibleWatch(data)
	if err != nil {
		return err
	}
	for _, w := range list {
		if w.GroupVersionKind() != runtimekinds.GVK(r) {
			continue
		}
		// Without a role or playbook to create, the entry has the user's.
		if wanted.Role+wanted.Playbook == "" || w.Role == wanted.Role && w.Playbook == wanted.Playbook {
			return nil
		}
		if !force {
			return diag.Finding{Position: w.Position, Problem: "there is an entry for " + r.GVK.String() + " already", Fix: "remove it"}
		}
		if err := removeAnsibleWatch(tree, r); err != nil {
			return err
		}
	}
	return runtimekinds.EditWatches(tree, func(content []byte) ([]byte, error) { return scaffold.AddAnsibleWatch(content, data) })
}
