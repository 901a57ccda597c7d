package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/codegen"
)

// oldGenerate returns the generate commands of the first versions of operator-sdk. They print and run the commands that replaced
// them.
func oldGenerate(a *app, generate func(use, short, long, example string, what codegen.Generators) *cobra.Command) []*cobra.Command {
	old := func(use, current string, what codegen.Generators, flags []retired) *cobra.Command {
		c := generate(use, "Generate files (now 'generate "+current+"')",
			"Run 'generate "+current+"' under its name in the first versions of operator-sdk.",
			fmt.Sprintf("  %s generate %s", a.program, current), what)
		c.Hidden = true
		addRetired(c, flags)
		run := c.RunE
		c.RunE = func(c *cobra.Command, args []string) error {
			if findings := retiredUsed(c, flags); len(findings) > 0 {
				return findings
			}
			a.renamed(c, "generate "+current)
			return run(c, args)
		}
		return c
	}
	crdVersion := []retired{{name: "crd-version", instead: "must be v1", fine: []string{"v1"}}}
	csv := &cobra.Command{
		Use:     "csv",
		Short:   "Generate the base of the CSV (now 'kustomize manifests')",
		Long:    "Run 'generate kustomize manifests', with its flags, under its name in the first versions of operator-sdk.",
		Example: fmt.Sprintf("  %s generate kustomize manifests", a.program),
		Hidden:  true,
		// It has the flags of the current command.
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			if slices.ContainsFunc(args, isGenCSVFlag) {
				target, _, err := c.Root().Find([]string{"olm-catalog", "gen-csv"})
				if err != nil {
					return err
				}
				return a.runAs(c, target, args, func() {}) // which prints the current command
			}
			target, _, err := c.Parent().Find([]string{"kustomize", "manifests"})
			if err != nil || target.Name() != "manifests" || target.Parent().Name() != "kustomize" {
				return usagef(c.Parent(), "'generate csv' is now 'generate kustomize manifests', which is missing in this build; '%s generate bundle' generates the CSV of a bundle from an existing base", a.program)
			}
			return a.runAs(c, target, args, func() { a.renamed(c, "generate kustomize manifests") })
		},
	}
	return []*cobra.Command{
		old("k8s", "code", codegen.Object, nil),
		old("crds", "manifests", manifestGenerators, crdVersion),
		// It generated Go code from schemas, which are now in the CRDs.
		old("openapi", "manifests", manifestGenerators, crdVersion),
		csv,
	}
}

// renamed prints a note with the command's current name.
func (a *app) renamed(c *cobra.Command, name string) {
	a.notef("note: '%s' is now '%s %s'", c.CommandPath(), a.program, name)
}

// isGenCSVFlag reports whether an argument is a flag of olm-catalog gen-csv, under its later name generate csv.
func isGenCSVFlag(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return slices.Contains([]string{"--csv-version", "--csv-channel", "--from-version", "--update-crds", "--operator-name", "--make-manifests"}, name)
}
