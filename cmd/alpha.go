package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/action/upgrade"
	"github.com/operon-sdk/operon/pkg/project"
)

func newAlpha(a *app) *cobra.Command {
	return a.commandGroup("alpha", "Re-create or update a project, or convert an old PROJECT",
		"  %[1]s alpha generate --output-dir ../fresh\n  %[1]s alpha update --push\n  %[1]s alpha config-3alpha-to-3", newAlphaGenerate(a), newAlphaUpdate(a), newConvertAlpha(a))
}

func newAlphaGenerate(a *app) *cobra.Command {
	var o upgrade.RescaffoldOptions
	c := &cobra.Command{
		Use:   "generate",
		Short: "Re-create a project from PROJECT in a new directory",
		Long: fmt.Sprintf(`Scaffold what PROJECT records in a new directory, with the current templates: init, every API with
its controllers, and every webhook. Your code isn't copied; the directory shows the plain scaffold.
The project itself doesn't change, and may have an older layout.

To upgrade a project together with your code, use '%[1]s upgrade'.`, a.program),
		Example: fmt.Sprintf(`  # Re-create this project:
  %[1]s alpha generate --output-dir ../fresh

  # Re-create another project:
  %[1]s alpha generate --input-dir ../memcached-operator --output-dir fresh`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Plugins, o.ProjectVersion = a.parsedPlugins(), a.projectVersion
			return a.print.Outcome(upgrade.Rescaffold(c.Context(), a.actions(), o))
		},
	}
	f := c.Flags()
	a.addOffline(f)
	f.StringVar(&o.InputDir, "input-dir", "", "`directory` of the project (default: the current directory)")
	f.StringVar(&o.OutputDir, "output-dir", "", "`directory` to write to, new or empty (required)")
	a.addPlugins(f, "`layout` of the project; only go/v4 is supported")
	a.addProjectVersion(f)
	completeValues(c, "plugins", "go/v4")
	completeValues(c, "project-version", project.ProjectVersion)
	return c
}
