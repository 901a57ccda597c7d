package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/layout"
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
	// Repo is the module path of a Go project; empty means the one from go.mod, GOPATH or the git remote.
	Repo string
	// ProjectName is the name of the project; empty means the name of the directory.
	ProjectName            string
	Multigroup, Namespaced bool
	Plugins                project.Plugins
	// ProjectVersion is the version of PROJECT.
	ProjectVersion string
	// API is the first kind of a project without Go code, or nil for a project without kinds.
	API *CreateAPIOptions
	// Chart generates the Helm chart that installs the operator, or is nil.
	Chart ChartGenerator
	// Findings are problems of the options that the caller has found.
	Findings diag.Findings
}

// Init creates a project in a directory without one, which Open has returned.
func (p *Project) Init(ctx context.Context, o InitOptions) (*Result, error) {
	if err := p.CheckNew(); err != nil {
		return nil, err
	}
	data, remote, err := p.initData(o)
	if err != nil {
		return nil, err
	}
	config, err := newConfig(data.Project)
	if err != nil {
		return nil, err
	}
	var kind Addition
	if o.API != nil {
		if kind, err = p.KindsOf(config.Facts()).AddKind(ctx, p, config, *o.API); err != nil {
			return nil, err
		}
	}
	result, err := p.Update(ctx, func(tree *worktree.Tree) error {
		if err := p.applyInit(tree, data); err != nil {
			return err
		}
		if err := p.AddPlugins(tree, config, o.Plugins); err != nil {
			return err
		}
		if tree.WriteFile(project.FileName, config.Bytes(), worktree.FileMode); kind != nil {
			if err := kind.Apply(ctx, p, tree, config); err != nil {
				return err
			}
		}
		if o.Chart == nil {
			return nil
		}
		return o.Chart.Apply(ctx, tree, config)
	})
	if err != nil {
		return nil, err
	}
	if o.Domain == DefaultDomain && !p.DryRun {
		result.Notes = append(result.Notes, fmt.Sprintf("note: the domain of the API groups is %s; --domain chooses another", o.Domain))
	}
	if remote != "" && !p.DryRun {
		result.Notes = append(result.Notes, fmt.Sprintf("note: the Go module path is %s, from the git remote %s; --repo chooses another", data.Project.Repo, remote))
	}
	if kind != nil {
		kind.AddSteps(p, result)
	} else {
		result.AddStepf("add an API with '%s create api'", p.Program)
	}
	p.addPluginSteps(result, o.Plugins)
	if o.Chart != nil {
		return result, o.Chart.Describe(result)
	}
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

// initData validates the options and returns the data of templates, and the git remote if the module path is from it.
func (p *Project) initData(o InitOptions) (data scaffold.Data, remote string, err error) {
	findings := slices.Concat(project.CheckDomain(o.Domain), project.CheckProjectVersion(o.ProjectVersion), o.Plugins.CheckProject(), o.Findings)
	name := o.ProjectName
	if name == "" {
		var others diag.Findings
		name, others = project.ProjectNameFromDir(filepath.Base(p.Root))
		findings = append(findings, others...)
	} else {
		findings = append(findings, project.CheckProjectName(name)...)
	}
	data = scaffold.Data{
		Project: scaffold.Project{
			Name: name, Domain: o.Domain, MultiGroup: o.Multigroup, Namespaced: o.Namespaced, Layout: cmp.Or(o.Plugins.Layout, layout.Go()),
			CLIName: p.Program,
		},
		Versions: p.Versions(),
	}
	if o.Plugins.WithoutGo() {
		return data, "", findings.Err()
	}
	data.Project.Repo = o.Repo
	switch {
	case o.Repo != "":
		findings = append(findings, project.CheckRepo(o.Repo)...)
	case !o.Plugins.Unknown():
		if data.Project.Repo, remote, err = project.InferRepo(p.FS, p.Root, p.GOPATH); err != nil {
			findings.Add("--repo", "", "cannot be derived: "+err.Error())
		}
	}
	if findings = append(findings, o.check(&p.Config)...); len(findings) > 0 {
		return scaffold.Data{}, "", findings
	}
	data.Project.Boilerplate, err = o.header(&p.Config)
	return data, remote, err
}

// newConfig returns the PROJECT file of a new project.
func newConfig(p scaffold.Project) (*project.Config, error) {
	return project.New(project.Options{
		Layout: p.Layout.Key(), Domain: p.Domain, Repo: p.Repo, ProjectName: p.Name, MultiGroup: p.MultiGroup, Namespaced: p.Namespaced,
	}, p.Layout)
}

// applyInit writes the project without its PROJECT file into the tree.
func (p *Project) applyInit(tree *worktree.Tree, data scaffold.Data) error {
	report, err := scaffold.Init(tree, data)
	if err != nil {
		return err
	}
	p.ReportKept(report)
	if data.Project.Repo == "" {
		return nil
	}
	_, err = scaffold.UpdateRequirements(tree)
	return err
}
