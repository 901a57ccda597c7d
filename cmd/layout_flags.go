package cmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/cmd/internal/help"
	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/layouts"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/project"
)

// completePlugins completes --plugins by the layouts and other plugins.
func (a *app) completePlugins(c *cobra.Command, others ...string) {
	var keys []string
	for _, l := range a.layouts() {
		keys = append(keys, l.Short())
	}
	completeValues(c, "plugins", append(keys, others...)...)
}

// completeKindPlugins completes --plugins of create api: only these change what it creates in the project.
func (a *app) completeKindPlugins(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	facts := layout.Go()
	if config := a.completionProject(); config != nil {
		facts = config.Facts()
	}
	var keys []string
	if !facts.Charts && facts.NoCharts == "" && !facts.Refuses(createAPICommand, "helm-chart") {
		keys = append(keys, layout.Helm().Short())
	}
	if !facts.Refuses(createAPICommand, "image") {
		keys = append(keys, "deploy-image/v1-alpha")
	}
	return keys, cobra.ShellCompDirectiveNoFileComp
}

// layouts returns all layouts of projects, the ones of Operon first.
func (a *app) layouts() []action.Layout {
	return append(layouts.All(), a.Layouts...)
}

// parsedPlugins returns the plugins of --plugins.
func (a *app) parsedPlugins() project.Plugins { return project.ParsePlugins(a.plugins, a.Facts()...) }

// refuse returns findings for the given flags that a command does not have for a layout: "is only valid in Go projects", and the reason.
func refuse(c *cobra.Command, facts *layout.Facts, command string) diag.Findings {
	var findings diag.Findings
	for _, r := range facts.Refusals(command) {
		for _, name := range slices.Sorted(maps.Keys(r.Reasons)) {
			if flag := c.Flags().Lookup(name); flag != nil && flag.Changed {
				value := flag.Value.String()
				if list, ok := flag.Value.(pflag.SliceValue); ok {
					value = strings.Join(list.GetSlice(), ",")
				}
				findings.Add("--"+name, value, strings.TrimSuffix(r.Problem+": "+r.Reasons[name], ": "))
			}
		}
	}
	return findings
}

// hideRefused hides the flags that a command and its sub-commands do not have for the layout of the project that they are called in, in
// help and completion. It reports whether there is a project.
func (a *app) hideRefused(c *cobra.Command) bool {
	config := a.completionProject()
	if config != nil {
		hideFlags(c, config.Facts())
	}
	return config != nil
}

func hideFlags(c *cobra.Command, facts *layout.Facts) {
	_, command, _ := strings.Cut(c.CommandPath(), " ")
	c.Flags().VisitAll(func(flag *pflag.Flag) {
		flag.Hidden = flag.Hidden || facts.Refuses(command, flag.Name)
	})
	for _, sub := range c.Commands() {
		hideFlags(sub, facts)
	}
}

// fitFlags prepares the flags of a command for its help: hides those that the layout of the project doesn't have, or, outside of a project,
// groups flags by layouts.
func (a *app) fitFlags(c *cobra.Command) {
	if !a.hideRefused(c) {
		a.groupFlags(c)
	}
}

// groupFlags groups the flags of a command by the layouts that have them, for its help, in the order of the layouts.
func (a *app) groupFlags(c *cobra.Command) {
	_, command, _ := strings.Cut(c.CommandPath(), " ")
	all := append(layout.All(), a.Facts()...)
	c.Flags().VisitAll(func(flag *pflag.Flag) {
		var having []string
		first := len(all)
		for i, facts := range all {
			if !facts.Refuses(command, flag.Name) {
				having, first = append(having, facts.Name), min(first, i)
			}
		}
		if len(having) < len(all) {
			help.SetGroup(flag, "Flags for "+strings.Join(having, " and ")+" projects", fmt.Sprint(first, len(having)))
		}
	})
}

// anyGiven reports whether one of the flags is given.
func anyGiven(c *cobra.Command, flags []string) bool {
	return slices.ContainsFunc(flags, func(name string) bool { return c.Flags().Changed(name) })
}

// addChart adds the flags that select the chart of a kind.
func addChart(c *cobra.Command, o *action.ChartOptions) {
	f := c.Flags()
	f.StringVar(&o.Source, "helm-chart", "", "`chart` of the kind: directory, archive, URL, oci:// reference or repository/name (default: a starter chart)")
	f.StringVar(&o.Repo, "helm-chart-repo", "", "`URL` of the repository that contains --helm-chart")
	f.StringVar(&o.Version, "helm-chart-version", "", "`version` of the chart, or a constraint (default: the newest release)")
	f.BoolVar(&o.OpenSchema, "open-schema", false, "allow any values in the CRD of a chart, not only the chart's own")
	f.BoolVar(&o.RelatedImages, "related-images", false, "set the images of the chart with RELATED_IMAGE_ variables of the manager")
	f.BoolVar(&o.FullSample, "full-sample", false, "set all default values of the chart in the sample")
	f.String("crd-version", "v1", "`version` of the CustomResourceDefinition")
	_ = f.MarkHidden("crd-version") // deprecated; the only error is a flag that does not exist
}

// addRun adds the flags that write the role or the playbook of a kind.
func addRun(c *cobra.Command, o *action.RunOptions) {
	f := c.Flags()
	f.BoolVar(&o.Role, "generate-role", false, "write a role for the kind of an Ansible project, in roles/<kind>")
	f.BoolVar(&o.Playbook, "generate-playbook", false, "write a playbook for the kind of an Ansible project, in playbooks; with --generate-role, it runs the role")
}

// checkCRDVersion validates --crd-version, which operator-sdk accepts.
func checkCRDVersion(p *output.Printer, c *cobra.Command) diag.Findings {
	flag := c.Flags().Lookup("crd-version")
	switch version := flag.Value.String(); {
	case version == "v1":
	case version == "v1beta1":
		p.Warn(diag.Finding{Problem: "--crd-version v1beta1: Kubernetes serves only v1, which is used"})
	default:
		return diag.Findings{{Field: "--crd-version", Value: version, Problem: "must be v1"}}
	}
	return nil
}
