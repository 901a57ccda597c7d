package cmd

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/old"
	"github.com/operon-sdk/operon/pkg/codegen"
)

// oldGenerate returns the generate commands of the first versions of operator-sdk. They print and run the commands that replaced
// them.
func oldGenerate(a *app, generate func(use, short, long, example string, what codegen.Generators) *cobra.Command) []*cobra.Command {
	renamed := func(use, current string, what codegen.Generators, retired old.Retired) *cobra.Command {
		c := generate(use, "Generate files (now 'generate "+current+"')",
			"Run 'generate "+current+"' under its name in the first versions of operator-sdk.",
			fmt.Sprintf("  %s generate %s", a.program, current), what)
		c.Hidden = true
		run := c.RunE
		c.RunE = func(c *cobra.Command, args []string) error {
			replacement{a, c}.noteName("generate " + current)
			return run(c, args)
		}
		refuseRetired(c, retired)
		return c
	}
	csv := newOld(a, "csv", "Generate the base of the CSV (now 'kustomize manifests')",
		"Run 'generate kustomize manifests', with its flags, under its name in the first versions of operator-sdk.",
		"  %s generate kustomize manifests",
		func(c *cobra.Command, args []string) error {
			r := replacement{a, c}
			if slices.ContainsFunc(args, old.IsCSVFlag) {
				return r.runAs([]string{"olm-catalog", "gen-csv"}, args, func() {}) // it prints the current command
			}
			return r.runAs([]string{"generate", "kustomize", "manifests"}, args, func() { r.noteName("generate kustomize manifests") })
		})
	csv.Hidden, csv.Args = true, nil
	csv.DisableFlagParsing = true // the current command parses the flags
	return []*cobra.Command{
		renamed("k8s", "code", codegen.Object, nil),
		renamed("crds", "manifests", manifestGenerators, old.OfCRDs()),
		// It generated Go code from schemas, which are now in the CRDs.
		renamed("openapi", "manifests", manifestGenerators, old.OfCRDs()),
		csv,
	}
}
