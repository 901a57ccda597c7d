package cmd

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/old"
	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/chart"
	"github.com/operon-sdk/operon/pkg/goenv"
	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/project"
)

// initOptions are the flags of init.
type initOptions struct {
	action.InitOptions
	fetchDeps, skipGoCheck bool
	// api is the first kind of a project without Go code, if its flags are given.
	api action.CreateAPIOptions
	// interactive prompts for missing values.
	interactive bool
}

func newInit(a *app) *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use:   "init",
		Short: "Create an operator project in the current directory",
		Long: `Create an operator project, with manifests, Makefile, Dockerfile and CI workflows. The command uses
no network and runs no programs.

By default, the operator is written in Go: the project has a manager with tests, and complete go.mod
and go.sum files. With --plugins helm, the operator installs Helm charts; with --plugins ansible, it
runs Ansible roles and playbooks. Such projects have no Go code. Flags that don't apply to a layout
are rejected. With flags for a kind, a chart, a role or a playbook, init also adds the first kind,
like create api, which may fetch the chart from the network.

--plugins grafana/v1-alpha adds Grafana dashboards for the manager's metrics in grafana, and
autoupdate/v1-alpha a GitHub workflow that runs upgrade and opens a pull request. edit can add them
later.

Existing files that the project doesn't need, such as a README.md, are kept. If files are in the
way, all of them are listed and nothing is written.`,
		Example: fmt.Sprintf(`  # In an empty directory:
  %[1]s init --domain example.com --repo github.com/example/memcached-operator

  # In a directory with a go.mod, or in a clone, which give the module path:
  %[1]s init --domain example.com

  # For several groups, with a manager for one namespace and an MIT header:
  %[1]s init --domain example.com --multigroup --namespaced --license mit --owner "Example Inc."

  # An operator that installs Helm charts, without and with its first chart:
  %[1]s init --plugins helm --domain example.com
  %[1]s init --plugins helm --domain example.com --group cache --kind Memcached --helm-chart oci://registry.example.com/charts/memcached

  # An operator that runs Ansible roles, without and with its first one:
  %[1]s init --plugins ansible --domain example.com
  %[1]s init --plugins ansible --domain example.com --group cache --version v1alpha1 --kind Memcached --generate-role

  # With a Helm chart of the operator, dashboards and a workflow for upgrades:
  %[1]s init --plugins go/v4,helm/v2-alpha,grafana/v1-alpha,autoupdate/v1-alpha --domain example.com`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runInit(c, &o) },
	}
	f := c.Flags()
	f.StringVar(&o.Domain, "domain", action.DefaultDomain, "`domain` of the project's API groups, such as example.com")
	f.StringVar(&o.Repo, "repo", "", "Go module `path` (default: from go.mod, GOPATH or the git remote)")
	f.StringVar(&o.ProjectName, "project-name", "", "project `name`, the prefix of deployed objects (default: the directory name)")
	f.StringVar(&o.Owner, "owner", "", "copyright `owner` in the license header")
	f.StringVar(&o.License, "license", "apache2", "license header of Go files")
	f.StringVar(&o.File, "license-file", "", "`file` with the header, a Go comment; takes precedence over --license")
	f.BoolVar(&o.Multigroup, "multigroup", false, "write APIs to api/<group>/<version>, for several groups")
	f.BoolVar(&o.Namespaced, "namespaced", false, "watch one namespace, with Roles instead of ClusterRoles")
	f.StringVar(&o.api.Group, "group", "", "`group` of the first kind of a Helm or Ansible project, without the domain (default: charts, with --helm-chart)")
	f.StringVar(&o.api.Version, "version", "", "`version` of the first kind of a Helm or Ansible project (default: v1alpha1, with --helm-chart)")
	f.StringVar(&o.api.Kind, "kind", "", "first `kind` of a Helm or Ansible project (default: derived from --helm-chart)")
	addChart(c, &o.api.Chart)
	addRun(c, &o.api.Run)
	a.addOffline(f)
	a.addPlugins(f, "`plugins`: the layout go/v4 (default), helm/v1 or ansible/v1, and helm/v2-alpha, grafana/v1-alpha or autoupdate/v1-alpha")
	a.addProjectVersion(f)
	f.BoolVar(&o.fetchDeps, "fetch-deps", false, "download the modules of go.mod afterwards (go mod download)")
	f.BoolVar(&o.skipGoCheck, "skip-go-version-check", false, "accepted for compatibility; init does not run go")
	old.OfPlugins().AddTo(f)
	completeValues(c, "license", "apache2", "mit", "copyright", "none")
	a.addOutput(c, output.Text, output.JSON)
	a.completePlugins(c, "helm/v2-alpha", "grafana/v1-alpha", "autoupdate/v1-alpha")
	completeValues(c, "project-version", project.ProjectVersion)
	return c
}

func (a *app) runInit(c *cobra.Command, o *initOptions) error {
	root := a.Dir
	o.interactive = a.InTerminal
	o.Findings = old.OfPlugins().Used(c.Flags())
	return a.initIn(c, root, o)
}

// initIn creates a project in a directory.
func (a *app) initIn(c *cobra.Command, root string, o *initOptions) error {
	return a.runAt(c.Context(), a.actions(), root, func(p *action.Project) error { return a.initProject(c, p, o) })
}

func (a *app) initProject(c *cobra.Command, p *action.Project, o *initOptions) error {
	if err := p.CheckNew(); err != nil {
		return err
	}
	root := p.Root
	o.Plugins, o.ProjectVersion = a.parsedPlugins(), a.projectVersion
	if o.interactive && len(o.Findings) == 0 && !o.Plugins.Unknown() && len(refuse(c, cmp.Or(o.Plugins.Layout, layout.Go()), "init")) == 0 {
		if err := a.askInit(c, root, o); err != nil {
			return err
		}
		o.Plugins = a.parsedPlugins()
	}
	facts := cmp.Or(o.Plugins.Layout, layout.Go())
	if !o.Plugins.Unknown() {
		o.Findings = append(refuse(c, facts, "init"), o.Findings...)
	}
	if anyGiven(c, facts.FirstKind) {
		o.API = &o.api
		o.api.Findings = checkCRDVersion(a.print, c)
	}
	if o.Plugins.Chart {
		generator, err := chart.New(p, nil, chart.Options{})
		if err != nil {
			return err
		}
		o.Chart = generator
	}
	bare := isBare(a.Env, root)
	result, err := p.Init(c.Context(), o.InitOptions)
	if err != nil {
		return err
	}
	if bare {
		a.trustNew(root)
	}
	if err := a.print.Changes(result); err != nil {
		return err
	}
	if o.fetchDeps && !a.dryRun {
		if err := fetchDeps(c.Context(), a.print, root); err != nil {
			return err
		}
	}
	a.print.Notes(result)
	return nil
}

// fetchDeps downloads the modules of the project. No other step of init uses the network.
func fetchDeps(ctx context.Context, p *output.Printer, root string) error {
	p.Progressf("downloading modules: go mod download")
	out := p.Text()
	err := p.RunGo(ctx, root, nil, out, out, "mod", "download")
	switch {
	case is[*goenv.Error](err):
		return fmt.Errorf("the project is complete, but its modules could not be downloaded: %w, then run 'go mod download'", err)
	case err != nil:
		return fmt.Errorf("the project is complete, but its modules could not be downloaded: %w; run 'go mod download' when the network is back", err)
	}
	return nil
}
