package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/deploy"
	"github.com/operon-sdk/operon/pkg/diag"
)

// undeployOptions are the flags of undeploy.
type undeployOptions struct {
	deployedOptions
	crds, yes, wait bool
}

func newUndeploy(a *app) *cobra.Command {
	o := &undeployOptions{}
	c := &cobra.Command{
		Use:   "undeploy",
		Short: "Remove the deployed operator from a cluster",
		Long: `Delete what 'deploy' or 'make deploy' applied, in the reverse order. The CRDs are kept, and with them
all custom resources of users. The namespace is kept if it contains objects of others.

With --delete-crds, the CRDs are deleted, too. The custom resources that would be lost are listed, and
deleted only if you confirm at the terminal or pass --yes, while the manager still runs, so that it
can handle their finalizers.

If this user may not delete one of the objects, nothing is deleted. It isn't an error if there is
nothing to delete. Run the command again to complete an interrupted removal.`,
		Example: fmt.Sprintf(`  # The operator, but not its CRDs and custom resources:
  %[1]s undeploy

  # Show what would be deleted with the CRDs:
  %[1]s undeploy --delete-crds --dry-run

  # Everything, without asking:
  %[1]s undeploy --delete-crds --yes`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.undeploy(c.Context(), o) },
	}
	o.addTo(a, c)
	flags := c.Flags()
	flags.BoolVar(&o.crds, "delete-crds", false, "delete the CRDs with all custom resources")
	flags.BoolVarP(&o.yes, "yes", "y", false, "delete custom resources without asking")
	flags.BoolVar(&o.wait, "wait", true, "wait until everything is deleted; custom resources are always waited for")
	return c
}

func (a *app) undeploy(ctx context.Context, o *undeployOptions) error {
	findings := o.check()
	if o.yes && !o.crds {
		findings.Add("--yes", "", "has no use without --delete-crds, which alone deletes custom resources")
	}
	if err := findings.Err(); err != nil {
		return err
	}
	ctx, stop := o.limited(ctx)
	defer stop()
	target, err := a.deployTarget(ctx, &o.deployedOptions, "")
	if err != nil {
		return err
	}
	if target.Client, err = a.connect(ctx, o.clusterChoice); err != nil {
		return err
	}
	options := deploy.UndeployOptions{
		Target: *target, DeleteCRDs: o.crds, Wait: o.wait, DryRun: a.dryRun,
		Confirm: func(losses []deploy.Loss) error { return a.confirmLosses(losses, o.yes) },
	}
	var deleted []string
	err = runOperator(ctx, a.print, &options.Reporter, func() (err error) {
		deleted, err = deploy.Undeploy(ctx, options)
		return err
	})
	switch {
	case err != nil:
		return err
	case len(deleted) == 0:
		a.print.Progressf("%s is not deployed; there is nothing to delete", target.Project)
	case a.dryRun:
		for i, name := range deleted {
			deleted[i] = "would delete " + name
		}
		_, err := fmt.Fprint(a.print.TextOut(), joinLines(deleted))
		return err
	default:
		a.print.Progressf("%s is undeployed: %s deleted", target.Project, diag.Count(len(deleted), "object"))
	}
	return nil
}

// confirmLosses asks whether custom resources may be deleted, unless --yes is given.
func (a *app) confirmLosses(losses []deploy.Loss, yes bool) error {
	var lines []string
	var lost diag.Findings
	for _, l := range losses {
		lines, lost = append(lines, l.Line()), append(lost, diag.Finding{Problem: l.Line()})
	}
	if yes {
		a.print.Progressf("with the CRDs, these custom resources are deleted:")
		for _, line := range lines {
			a.print.Progressf("  %s", line)
		}
		return nil
	}
	if !a.InTerminal || !a.OutTerminal {
		return diag.Lines("users would lose these custom resources, and nothing was deleted:", lost, "pass --yes to delete all of them")
	}
	fmt.Fprint(a.print.Text(), joinLines(lines))
	remove, err := a.prompt().Confirm("Delete the CRDs and all of these custom resources?", false)
	if err == nil && !remove {
		err = errors.New("nothing was deleted")
	}
	return err
}
