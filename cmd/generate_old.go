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
		run := c.RunE
		c.RunE = func(c *cobra.Command, args []string) error {
			a.renamed(c, "generate "+current)
			return run(c, args)
		}
		refuseRetired(c, flags)
		return c
	}
	crdVersion := []retired{{"crd-version", "must be v1", []string{"v1"}}}
	csv := a.oldCommand("csv", "Generate the base of the CSV (now 'kustomize manifests')",
		"Run 'generate kustomize manifests', with its flags, under its name in the first versions of operator-sdk.",
		"  %s generate kustomize manifests",
		func(c *cobra.Command, args []string) error {
			path, note := []string{"generate", "kustomize", "manifests"}, func() { a.renamed(c, "generate kustomize manifests") }
			if slices.ContainsFunc(args, isGenCSVFlag) {
				path, note = []string{"olm-catalog", "gen-csv"}, func() {} // it prints the current command
			}
			target, _, err := c.Root().Find(path)
			if err != nil {
				return err
			}
			return a.runAs(c, target, args, note)
		})
	csv.Hidden, csv.Args = true, nil
	csv.DisableFlagParsing = true // the current command parses the flags
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
