package cmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/old"
	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/chart"
	"github.com/operon-sdk/operon/pkg/action/gokinds"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

func newEdit(a *app) *cobra.Command {
	var o action.EditOptions
	var charts chart.Options
	var multigroup, namespaced bool
	var license, licenseFile, owner, certificates string
	c := &cobra.Command{
		Use:   "edit",
		Short: "Change the project's layout, scope, header or plugins",
		Long: `Change settings of the whole project, including its code and manifests.

--multigroup moves APIs, controllers and webhooks into one directory per group and updates all
references: imports, relative paths, PROJECT, role files, kustomizations, Makefile and Dockerfile.
--multigroup=false moves them back as long as the project has only one group. The code must compile
before and after the move; otherwise nothing changes. --no-verify skips these checks. If one file is
in the way of another, it is named and nothing changes. All your other files stay the same, byte for
byte.

--namespaced makes the manager watch one namespace, with Roles instead of ClusterRoles;
--namespaced=false goes back to the whole cluster. Your changes to these files are kept: the
scaffold's change is merged into each file. If you edited the same lines, the change to make by hand
is printed and nothing changes. With --force, everything else is changed, and you make the listed
changes.

--plugins grafana/v1-alpha adds Grafana dashboards for the manager's metrics in grafana. To add your
own metrics, list them in grafana/custom-metrics/config.yaml and run the command again: each gets a
panel in custom-metrics-dashboard.json, with title, query and unit from the list. --plugins
autoupdate/v1-alpha adds a GitHub workflow that runs upgrade every week and opens a pull request
with the result. Existing files are kept, including kubebuilder's and operator-sdk's. --plugins
helm/v2-alpha adds a Helm chart that installs the operator, and updates it, as 'generate chart' does.

--certificates changes where webhooks get their certificate: from cert-manager, from the manager itself
(self-managed), or from a Secret that you create (provided). What only the other choice needs is
removed, unless you edited it: then nothing changes without --force.

--ide adds configurations that debug the operator in Visual Studio Code or GoLand. Existing files are
overwritten only with --force.

--license, --license-file and --owner replace the header in all Go files that have the current one,
and the header file: hack/boilerplate.go.txt, or the one that controller-gen is called with.`,
		Example: fmt.Sprintf(`  # Before adding an API of another group:
  %[1]s edit --multigroup

  # A manager for one namespace, and back:
  %[1]s edit --namespaced
  %[1]s edit --namespaced=false

  # Another license and owner in the headers:
  %[1]s edit --license apache2 --owner "Example Inc."

  # Dashboards for Grafana, and a workflow that upgrades the project:
  %[1]s edit --plugins grafana/v1-alpha
  %[1]s edit --plugins autoupdate/v1-alpha

  # A Helm chart in dist/chart:
  %[1]s edit --plugins helm/v2-alpha

  # Webhooks without cert-manager:
  %[1]s edit --certificates self-managed

  # Configurations for the debugger of an IDE:
  %[1]s edit --ide vscode

  # Show what would change:
  %[1]s edit --multigroup --dry-run`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Multigroup, o.Namespaced = ifGiven(c, "multigroup", &multigroup), ifGiven(c, "namespaced", &namespaced)
			o.License, o.LicenseFile = ifGiven(c, "license", &license), ifGiven(c, "license-file", &licenseFile)
			o.Owner, o.Plugins = ifGiven(c, "owner", &owner), a.parsedPlugins()
			charts.Force = o.Force
			return a.runEdit(c, o, charts, project.Certificates(certificates))
		},
	}
	f := c.Flags()
	a.addOffline(f)
	a.addOutput(c, output.Text, output.JSON)
	f.BoolVar(&multigroup, "multigroup", false, "move APIs to api/<group>/<version>; =false reverts to the layout for one group")
	f.BoolVar(&namespaced, "namespaced", false, "watch one namespace, with Roles instead of ClusterRoles; =false watches the whole cluster")
	f.StringVar(&license, "license", "", "license header of Go files")
	f.StringVar(&licenseFile, "license-file", "", "`file` with the header, a Go comment; takes precedence over --license")
	f.StringVar(&owner, "owner", "", "copyright `owner` in the license header")
	choiceVar(c, &o.IDE, "ide", "", "", "add configurations that debug the operator in an IDE", scaffold.IDEs()...)
	f.BoolVar(&o.Force, "force", false, "with --namespaced, leave lines that you edited for you to change by hand; with --plugins helm/v2-alpha, replace chart files that you edited; with --certificates, delete what you edited; with --ide, overwrite existing files")
	addCertificates(c, &certificates, "where webhooks get their certificate")
	addChartPlace(f, &charts)
	f.BoolVar(&o.NoVerify, "no-verify", false, "with --multigroup, move the code without compiling it first")
	a.addPlugins(f, "`plugins` to add: helm/v2-alpha, grafana/v1-alpha or autoupdate/v1-alpha; or the layout of the project")
	old.OfPlugins().AddTo(f)
	completeValues(c, "license", "apache2", "mit", "copyright", "none")
	completeValues(c, "plugins", "helm/v2-alpha", "grafana/v1-alpha", "autoupdate/v1-alpha")
	return c
}

// ifGiven returns the value of a flag, or nil if the flag is not given.
func ifGiven[T any](c *cobra.Command, flag string, value *T) *T {
	if !c.Flags().Changed(flag) {
		return nil
	}
	return value
}

func (a *app) runEdit(c *cobra.Command, o action.EditOptions, charts chart.Options, certificates project.Certificates) error {
	return a.runInProject(c.Context(), func(p *action.Project) (*action.Result, error) {
		config, err := p.Load(action.EditableLayouts)
		if err != nil {
			return nil, err
		}
		o.Findings = append(refuse(c, config.Facts(), "edit"), old.OfPlugins().Used(c.Flags())...)
		if !o.Plugins.Chart {
			o.Findings = append(o.Findings, usedChartPlace(c.Flags())...)
		} else {
			generator, err := chart.New(p, config, charts)
			if findings, ok := errors.AsType[diag.Findings](err); ok {
				o.Findings = append(o.Findings, findings...)
			} else if err != nil {
				return nil, err
			}
			o.Chart = generator
		}
		o.Findings = append(o.Findings, certificates.Check()...)
		if c.Flags().Changed("ide") {
			o.Findings = append(o.Findings, checkChoice("--ide", o.IDE, scaffold.IDEs()...)...)
		}
		if certificates != "" {
			if err := p.RefuseWebhooks(); err != nil {
				return nil, err
			}
			o.Certificates = gokinds.Certificates(p, certificates, o.Force)
		}
		if !o.IsEmpty() {
			return p.Edit(c.Context(), o)
		}
		findings := append(o.Findings, o.Plugins.Findings...)
		for i := range findings {
			if findings[i].Suggestion == layout.Helm().Short() { // which init takes
				findings[i].Suggestion = "helm/v2-alpha"
			}
		}
		if of := o.Plugins.Layout; of != nil {
			findings.Add("--plugins", of.Short(), "is the layout of a project, which only 'operon init' chooses")
		}
		if len(findings) > 0 {
			return nil, findings
		}
		return nil, usagef(c, "nothing to edit; pass --multigroup, --namespaced, --license, --license-file, --owner, --certificates, --ide or --plugins helm/v2-alpha")
	})
}
