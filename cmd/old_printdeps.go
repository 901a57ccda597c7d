package cmd

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"

	"github.com/operon-sdk/operon/pkg/scaffold"
)

// newOldPrintDeps returns the command print-deps, which prints the modules that a new project requires.
func newOldPrintDeps(a *app) *cobra.Command {
	var file bool
	c := a.oldCommand("print-deps", "Print the modules that a new project requires",
		`Print the modules that the go.mod of a new project requires, with their versions. In a project, the
go command lists those that it requires.`,
		"  %s print-deps --as-file\n  go list -m all",
		func(c *cobra.Command, _ []string) error {
			rendered, err := scaffold.Render("init", scaffold.Data{
				Project:  scaffold.Project{Name: "operator", Domain: provisionalDomain, Repo: "example.com/operator", CLIName: a.program},
				Versions: scaffold.Pinned(),
			})
			if err != nil {
				return err
			}
			a.noteReplacement(c, "go list -m all")
			return a.printDeps(rendered.Files["go.mod"], file)
		})
	c.Flags().BoolVar(&file, "as-file", false, "print them as a go.mod file, including the modules of tests and tools")
	refuseRetired(c, []retired{{"dep-manager", modulesOnly, []string{"modules"}}})
	return c
}

// printDeps prints the direct requirements of a go.mod, or all of it as a file.
func (a *app) printDeps(text []byte, asFile bool) error {
	if asFile {
		_, err := a.Out.Write(text)
		return err
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(a.textOut(), 0, 0, 2, ' ', 0)
	for _, r := range mod.Require {
		if !r.Indirect {
			fmt.Fprintln(table, tableRow(r.Mod.Path, r.Mod.Version))
		}
	}
	return table.Flush()
}
