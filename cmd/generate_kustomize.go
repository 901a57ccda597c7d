package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/describe"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/bundles"
	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/project"
)

// kustomizeFlags are the flags of generate kustomize manifests.
type kustomizeFlags struct {
	bundles.KustomizeOptions
	describe    describe.Options
	interactive bool
}

func newGenerateKustomize(a *app) *cobra.Command {
	c := a.commandGroup("kustomize", "Generate the base of the bundle",
		"  %s generate kustomize manifests", newGenerateKustomizeManifests(a))
	c.Long = "Generate the base that kustomize builds the bundle from."
	return c
}

func newGenerateKustomizeManifests(a *app) *cobra.Command {
	var o kustomizeFlags
	c := &cobra.Command{
		Use:   "manifests",
		Short: "Generate the base of the ClusterServiceVersion (CSV)",
		Long: `Generate the base of the operator's ClusterServiceVersion (CSV): the operator's description for
catalogs, and descriptions of its kinds from +operator-sdk:csv:customresourcedefinitions markers in
the API types. Your changes to the base are kept. A missing kustomization.yaml is added.

If there is no base yet, or it is still the scaffolded one, the command asks for descriptions that
flags don't give, at a terminal or line by line from a pipe.`,
		Example: fmt.Sprintf(`  # Ask for the descriptions that catalogs show:
  %[1]s generate kustomize manifests

  # Ask for nothing, as in CI:
  %[1]s generate kustomize manifests --interactive=false

  # With flags, or a file:
  %[1]s generate kustomize manifests --display-name "Memcached Operator" --description "Runs memcached." --provider-name Example --provider-url https://example.com --keywords memcached,cache --maintainers "Ana:ana@example.com"
  %[1]s generate kustomize manifests --metadata-file operator.yaml`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runGenerateKustomize(c, o) },
	}
	f := c.Flags()
	addDirFlag(f, &o.APIsDir, "apis-dir", "api", "`directory` of the API types")
	addDirFlag(f, &o.InputDir, "input-dir", project.ManifestsDir, "`directory` of the current base, in its directory bases")
	addDirFlag(f, &o.OutputDir, "output-dir", project.ManifestsDir, "`directory` to write to")
	f.StringVar(&o.Package, "package", "", "package `name` (default: the project name)")
	f.BoolVar(&o.interactive, "interactive", false, "ask for all descriptions; =false asks for none (default: ask unless the base was edited)")
	addDescription(c, &o.describe, &o.KustomizeOptions)
	return c
}

func (a *app) runGenerateKustomize(c *cobra.Command, o kustomizeFlags) error {
	return a.runInRoot(c.Context(), a.actions(), func(p *action.Project) error {
		o.Findings = o.describe.Check()
		current, err := bundles.CheckKustomize(p, o.KustomizeOptions)
		if err != nil {
			return err
		}
		if o.Metadata, err = a.interview(c, o.interactive).Metadata(current, &o.describe); err != nil {
			return err
		}
		return a.print.Generated(bundles.GenerateKustomize(c.Context(), p, o.KustomizeOptions))
	})
}

// addDescription adds the flags that describe the operator in the base of the CSV.
func addDescription(c *cobra.Command, o *describe.Options, b *bundles.KustomizeOptions) {
	c.Flags().StringVar(&b.Prefer, "prefer", "", "side that wins where both the base and the code changed")
	completeValues(c, "prefer", string(base.InBase), string(base.InCode))
	o.AddTo(c.Flags())
}

// interview asks for the description of the operator, given the value of --interactive.
func (a *app) interview(c *cobra.Command, interactive bool) *describe.Interview {
	return &describe.Interview{Printer: a.print, Ask: a.ask, Command: c.CommandPath(), Interactive: ifGiven(c, "interactive", &interactive)}
}
