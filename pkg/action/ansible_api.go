package action

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// RunOptions select what create api writes for a kind of an Ansible project.
type RunOptions struct {
	// Role and Playbook write a role and a playbook, which runs the role if there are both.
	Role, Playbook bool
}

// An ansibleAPI is a new kind of an Ansible project.
type ansibleAPI struct {
	CreateAPIOptions
	resource project.Resource
}

// createAnsibleAPI adds a kind to an Ansible project.
func (p *Project) createAnsibleAPI(ctx context.Context, config *project.Config, o CreateAPIOptions) (*Result, error) {
	api, err := p.prepareAnsibleAPI(config, o)
	if err != nil {
		return nil, err
	}
	result, err := p.Update(ctx, func(tree *worktree.Tree) error { return api.apply(ctx, p, tree, config) })
	if err != nil {
		return nil, err
	}
	api.addSteps(p, result)
	return result, nil
}

// prepareAnsibleAPI validates the options of create api.
func (p *Project) prepareAnsibleAPI(config *project.Config, o CreateAPIOptions) (*ansibleAPI, error) {
	api := &ansibleAPI{CreateAPIOptions: o}
	plugins, findings := checkCreatePlugins(api.Plugins)
	findings = slices.Concat(api.Findings, findings)
	if plugins.Go || plugins.Helm || plugins.DeployImage {
		findings.Add("--plugins", strings.Join(api.Plugins, ","), "is not for Ansible projects, and this is one")
	}
	resource, others := project.ResolveResource(config, api.resourceOptions())
	api.resource = resource
	return api, append(findings, others...).Err()
}

// addSteps adds the next steps after the kind was added.
func (api *ansibleAPI) addSteps(p *Project, result *Result) {
	switch {
	case api.Run.Role:
		result.nextf("edit the role in %s, then '%s generate'", scaffold.RoleDir(api.Kind), p.Program)
	case api.Run.Playbook:
		result.nextf("edit %s, then '%s generate'", scaffold.PlaybookFile(api.Kind), p.Program)
	default:
		result.nextf("add the role or playbook of %s to watches.yaml, then '%s generate'", api.Kind, p.Program)
	}
}

// ansibleData returns the data of create api for a resource in PROJECT.
func (p *Project) ansibleData(config *project.Config, r project.Resource) scaffold.Data {
	data := p.resourceData(config, r, "")
	data.Resource.API, data.Resource.Namespaced = true, true
	return data
}

// apply writes the files of the kind into the tree.
func (api *ansibleAPI) apply(_ context.Context, p *Project, tree *worktree.Tree, config *project.Config) error {
	resource := api.resource
	data := p.ansibleData(config, resource)
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
	report, err := scaffold.CreateAnsibleAPI(tree, data, api.Force)
	if err != nil {
		return err
	}
	report.Kept = append(report.Kept, runs.Kept...)
	slices.Sort(report.Kept)
	p.reportKept(report)
	if api.Force { // the schema of an existing kind is scaffolded again, too
		removeIfExists(tree, path.Join(project.CRDBasesDir, resource.CRDFile()))
	}
	return p.generateAnsible(tree, config)
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
		if w.GroupVersionKind() != kindOf(r) {
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
	return editWatches(tree, func(content []byte) ([]byte, error) { return scaffold.AddAnsibleWatch(content, data) })
}
