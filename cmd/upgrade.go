package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/upgrade"
)

func newUpgrade(a *app) *cobra.Command {
	var o upgrade.Options
	var check bool
	var diff string
	c := &cobra.Command{
		Use:   "upgrade",
		Short: "Upgrade the project to the current scaffold",
		Long: `Upgrade a project that operator-sdk, kubebuilder or an older Operon scaffolded to the current
scaffold: Makefile, Dockerfile, main.go, manifests, workflows, end-to-end tests, and the Go version
and requirements in go.mod. Missing modules are downloaded before anything changes, unless you pass
--offline. You don't need version control.

Operon detects the release that scaffolded the project from its files, and merges each file against
it: YAML by field and item, Go by statement, Makefiles by rule. What you changed, moved, removed, or
commented in or out is kept. Types, controllers, webhooks and their tests stay the same, byte for
byte, except for calls that a new controller-runtime requires to change. Files that can't be merged
reliably don't change; --diff FILE shows how one differs from the current scaffold.

Every kustomization that builds before also builds afterwards; otherwise the manifests don't change.
Code that compiles before also compiles afterwards: if the new requirements would break it, go.mod,
Go code and manifests don't change, and the errors are printed. --force upgrades them anyway.

Projects with the layouts go/v2 and go/v3 are converted to go/v4: main.go moves to cmd, controllers
to internal/controller, and apis to api, together with your files in these directories. Imports,
relative paths and scripts in the module are updated. PROJECT files of version 2 and 3-alpha are
converted.

In Helm and Ansible projects, charts, roles, playbooks, watches.yaml, CRDs and samples are kept, and
the base image in the Dockerfile is replaced. An Ansible project whose Dockerfile has RUN
instructions besides operator-sdk's keeps its base image, with Operon's runtime in it, and its
collections.

Webhooks that are set up in the API packages move to internal/webhook with their markers and tests.
The types keep their methods, and the new webhooks call them.

If you and the scaffold changed the same unit, such as a statement, the file contains both versions
between conflict markers, and the command lists such files and fails; --conflict chooses one side
instead. Values, and rules that you rewrote, are kept. Running the command again changes nothing.`,
		Example: fmt.Sprintf(`  # List the files to upgrade; fail if there are any, for CI:
  %[1]s upgrade --check

  # Show the changes as a diff, then apply them:
  %[1]s upgrade --dry-run
  %[1]s upgrade

  # Keep your lines where both sides changed:
  %[1]s upgrade --conflict ours

  # Compare one of your files with the current scaffold:
  %[1]s upgrade --diff config/manager/manager.yaml

  # If the release that scaffolded the project is not detected:
  %[1]s upgrade --from operator-sdk-1.42`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			config := a.actions()
			config.DryRun = config.DryRun || check || diff != ""
			return a.runInRoot(c.Context(), config, func(p *action.Project) error {
				switch {
				case diff != "":
					return a.print.Outcome(upgrade.CompareScaffold(p, diff, o))
				case check:
					preview, err := upgrade.Plan(c.Context(), p, o)
					if err != nil {
						return err
					}
					return a.print.Preview(preview)
				}
				return a.print.Outcome(upgrade.Run(c.Context(), p, o))
			})
		},
	}
	f := c.Flags()
	a.addOffline(f)
	a.addAllowRemote(f)
	a.addOutput(c, output.Text, output.JSON)
	choiceVar(c, &o.From, "from", "", "", "`release` that scaffolded the project: operator-sdk-1.42, kubebuilder-4.16, or a version of either (default: detected)", "operator-sdk-1.42", "kubebuilder-4.16", "kubebuilder-3.15")
	choiceVar(c, &o.To, "to", "", "", "target `version` of Operon; must be this binary's version", buildVersion().Version)
	f.BoolVar(&check, "check", false, "write nothing; list the files to upgrade and exit with 1 if there are any (for CI)")
	choiceVar(c, &o.Conflict, "conflict", "", "", "side that decides conflicts: the project's lines (ours) or the scaffold's (theirs)", "ours", "theirs")
	f.StringVar(&diff, "diff", "", "print how a `file` of the project differs from the current scaffold, and change nothing")
	f.BoolVar(&o.Force, "force", false, "upgrade even if kustomizations or code no longer build")
	return c
}
