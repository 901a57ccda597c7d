package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/codegen"
)

// oldGenerate are commands of the first versions of operator-sdk, which became others: they say so, and
// do what they became.
func oldGenerate(a *app, generate func(use, short, long, example string, what codegen.Generators) *cobra.Command) []*cobra.Command {
	crds := generate("crds", "The old name of generate manifests",
		"Do what 'generate manifests' does, under its name in the first versions of operator-sdk.",
		fmt.Sprintf("  %s generate manifests", a.program), manifestGenerators)
	crds.Hidden = true
	run := crds.RunE
	crds.RunE = func(c *cobra.Command, args []string) error {
		a.renamed(c, "generate manifests")
		return run(c, args)
	}
	csv := &cobra.Command{
		Use:     "csv",
		Short:   "The old name of generate kustomize manifests",
		Long:    "Do what 'generate kustomize manifests' does, with its flags, under its name in the first versions of operator-sdk.",
		Example: fmt.Sprintf("  %s generate kustomize manifests", a.program),
		Hidden:  true,
		// The flags are those of the command that it became.
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			target, _, err := c.Parent().Find([]string{"kustomize", "manifests"})
			if err != nil || target.Name() != "manifests" || target.Parent().Name() != "kustomize" {
				return usagef(c.Parent(), "'generate csv' became 'generate kustomize manifests', which this build lacks; '%s generate bundle' makes the CSV of a bundle from a base that is there", a.program)
			}
			return a.runRenamed(c, target, args)
		},
	}
	return []*cobra.Command{crds, csv}
}

// renamed says what a command is called today.
func (a *app) renamed(c *cobra.Command, name string) {
	a.progressf("note: '%s' is called '%s %s' today", c.CommandPath(), a.program, name)
}

// runRenamed runs the command that another one became, with the arguments of that one.
func (a *app) runRenamed(c, target *cobra.Command, args []string) error {
	target.InitDefaultHelpFlag()
	if err := target.ParseFlags(args); err != nil {
		return flagError(target, err)
	}
	if help, err := target.Flags().GetBool("help"); err == nil && help {
		return target.Help()
	}
	a.renamed(c, "generate kustomize manifests")
	args = target.Flags().Args()
	if err := target.ValidateArgs(args); err != nil {
		return err
	}
	target.SetContext(c.Context())
	return target.RunE(target, args)
}
