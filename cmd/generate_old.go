package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/codegen"
)

// oldGenerate are commands of the first versions of operator-sdk, which became others: they say so, and
// do what they became.
func oldGenerate(a *app, generate func(use, short, long, example string, what codegen.Generators) *cobra.Command) []*cobra.Command {
	old := func(use, today string, what codegen.Generators, flags []retired) *cobra.Command {
		c := generate(use, "Generate files (now 'generate "+today+"')",
			"Run 'generate "+today+"' under its name in the first versions of operator-sdk.",
			fmt.Sprintf("  %s generate %s", a.program, today), what)
		c.Hidden = true
		addRetired(c, flags)
		run := c.RunE
		c.RunE = func(c *cobra.Command, args []string) error {
			if findings := retiredUsed(c, flags); len(findings) > 0 {
				return findings
			}
			a.renamed(c, "generate "+today)
			return run(c, args)
		}
		return c
	}
	crdVersion := []retired{{name: "crd-version", today: "must be v1", fine: []string{"v1"}}}
	csv := &cobra.Command{
		Use:     "csv",
		Short:   "Generate the base of the CSV (now 'kustomize manifests')",
		Long:    "Run 'generate kustomize manifests', with its flags, under its name in the first versions of operator-sdk.",
		Example: fmt.Sprintf("  %s generate kustomize manifests", a.program),
		Hidden:  true,
		// The flags are those of the command that it became.
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			if slices.ContainsFunc(args, ofOldCSV) {
				target, _, err := c.Root().Find([]string{"olm-catalog", "gen-csv"})
				if err != nil {
					return err
				}
				return a.runAs(c, target, args, func() {}) // it says what it became itself
			}
			target, _, err := c.Parent().Find([]string{"kustomize", "manifests"})
			if err != nil || target.Name() != "manifests" || target.Parent().Name() != "kustomize" {
				return usagef(c.Parent(), "'generate csv' became 'generate kustomize manifests', which this build lacks; '%s generate bundle' makes the CSV of a bundle from a base that is there", a.program)
			}
			return a.runAs(c, target, args, func() { a.renamed(c, "generate kustomize manifests") })
		},
	}
	return []*cobra.Command{
		old("k8s", "code", codegen.Object, nil),
		old("crds", "manifests", manifestGenerators, crdVersion),
		// The schemas that it made Go code of are in the CRDs.
		old("openapi", "manifests", manifestGenerators, crdVersion),
		csv,
	}
}

// renamed prints a note with the command's current name.
func (a *app) renamed(c *cobra.Command, name string) {
	a.notef("note: '%s' is now '%s %s'", c.CommandPath(), a.program, name)
}

// ofOldCSV tells an argument of the generate csv that made a version's CSV, as olm-catalog gen-csv does.
func ofOldCSV(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return slices.Contains([]string{"--csv-version", "--csv-channel", "--from-version", "--update-crds", "--operator-name", "--make-manifests"}, name)
}
