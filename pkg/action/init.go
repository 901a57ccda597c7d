package action

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// DefaultDomain is the default domain of Init, as of kubebuilder and operator-sdk.
const DefaultDomain = "my.domain"

// InitOptions are the options of Init.
type InitOptions struct {
	LicenseOptions
	Domain string
	// Repo is the module path; empty means that of go.mod, GOPATH or the git remote.
	Repo string
	// ProjectName is the name of the project; empty means that of the directory.
	ProjectName            string
	Multigroup, Namespaced bool
	Plugins                []string
	// ProjectVersion is the version of PROJECT.
	ProjectVersion string
}

// Init creates a project in a directory without one, which OpenAt has returned.
func (p *Project) Init(ctx context.Context, o InitOptions) (*Result, error) {
	if err := p.CheckNew(); err != nil {
		return nil, err
	}
	data, err := p.initData(o)
	if err != nil {
		return nil, err
	}
	result, err := p.Update(ctx, func(tree *worktree.Tree) error {
		if err := p.CheckNew(); err != nil {
			return err
		}
		return p.applyInit(tree, data)
	})
	if err != nil {
		return nil, err
	}
	if o.Domain == DefaultDomain && !p.DryRun {
		result.Notes = append(result.Notes, fmt.Sprintf("note: the domain of the API groups is %s; --domain chooses another", o.Domain))
	}
	result.nextf("add an API with '%s create api'", p.Program)
	return result, nil
}

// CheckNew fails if the directory is part of a project.
func (p *Project) CheckNew() error {
	existing, err := project.FindRoot(p.FS, p.Root)
	switch {
	case errors.Is(err, project.ErrNotAProject):
		return nil
	case err != nil:
		return err
	case existing == p.Root:
		return fmt.Errorf("this directory is already a project: it has a %s file; nothing was written", project.FileName)
	}
	if _, err := project.Load(p.FS, existing); err != nil {
		return nil
	}
	rel, err := filepath.Rel(p.Root, existing)
	if err != nil {
		return err
	}
	return fmt.Errorf("this directory is part of the project in %s; start a project outside of it, or run '%s create api' to add to it",
		filepath.ToSlash(rel), p.Program)
}

// initData validates the options and returns the data of templates.
func (p *Project) initData(o InitOptions) (scaffold.Data, error) {
	findings := append(project.CheckDomain(o.Domain), project.CheckProjectVersion(o.ProjectVersion)...)
	findings = append(findings, checkLayoutPlugins(o.Plugins)...)
	findings = append(findings, o.check(&p.Config)...)
	name := o.ProjectName
	if name == "" {
		var others diag.Findings
		name, others = project.ProjectNameFromDir(filepath.Base(p.Root))
		findings = append(findings, others...)
	} else {
		findings = append(findings, project.CheckProjectName(name)...)
	}
	repo := o.Repo
	if repo == "" {
		var err error
		repo, err = project.InferRepo(p.FS, p.Root, p.GOPATH)
		if err != nil {
			findings.Add("--repo", "", "cannot be derived: "+err.Error())
		}
	} else {
		findings = append(findings, project.CheckRepo(repo)...)
	}
	if len(findings) > 0 {
		return scaffold.Data{}, findings
	}
	header, err := o.header(&p.Config)
	return scaffold.Data{
		Project: scaffold.Project{
			Name: name, Domain: o.Domain, Repo: repo, MultiGroup: o.Multigroup, Namespaced: o.Namespaced,
			Boilerplate: header, CLIName: p.Program,
		},
		Versions: p.versions(),
	}, err
}

// applyInit writes the project and its PROJECT file into the tree.
func (p *Project) applyInit(tree *worktree.Tree, data scaffold.Data) error {
	report, err := scaffold.Init(tree, data)
	if err != nil {
		return err
	}
	config, err := project.New(project.Options{
		Domain: data.Project.Domain, Repo: data.Project.Repo, ProjectName: data.Project.Name,
		MultiGroup: data.Project.MultiGroup, Namespaced: data.Project.Namespaced,
	})
	if err != nil {
		return err
	}
	tree.WriteFile(project.FileName, config.Bytes(), 0o644)
	if _, err := scaffold.UpdateRequirements(tree); err != nil {
		return err
	}
	p.reportKept(report)
	return nil
}
