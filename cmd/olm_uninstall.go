package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/olm"
)

// finalizerGrace is the time after which finalizers of deleted objects are removed, at most the timeout divided by gracePart.
const finalizerGrace, gracePart = 20 * time.Second, 8

func newOLMUninstall(a *app) *cobra.Command {
	o, force := &olmOptions{}, false
	c := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove OLM from the cluster",
		Long: `Remove OLM with its operators, subscriptions, catalogs and namespaces, in the order of their
dependencies. The operators' CRDs are kept, and so are their custom resources, unless their
namespace is removed.

What users would lose is listed, and removed only if you confirm at the terminal or pass --force.
Run the command again to complete an interrupted removal. Namespaces that are stuck in deletion are
unblocked.`,
		Example: fmt.Sprintf(`  # Show what would be removed:
  %[1]s olm uninstall --dry-run

  # Remove it with all operators that it installed:
  %[1]s olm uninstall --force --timeout 5m`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check().Err(); err != nil {
				return err
			}
			return a.olmUninstall(c.Context(), o, force)
		},
	}
	o.add(c, "`namespace` that OLM runs in", "expected `version` of OLM (default: the installed one)", "")
	c.Flags().BoolVar(&force, "force", false, "remove operators and other resources of users without asking")
	return c
}

func (a *app) olmUninstall(ctx context.Context, o *olmOptions, force bool) error {
	ctx, stop := o.limited(ctx)
	defer stop()
	cluster, found, err := a.findOLM(ctx, o)
	if err != nil {
		return err
	}
	if !found.Present {
		a.print.Progressf("OLM is not installed in the namespace %s; there is nothing to remove", o.namespace)
		return nil
	}
	data, err := olm.Inventory(ctx, cluster, found)
	if err != nil {
		return err
	}
	if a.dryRun {
		a.print.Progressf("OLM %s and the namespaces %s will be deleted", found.Version, strings.Join(found.Namespaces(), " and "))
		_, err := fmt.Fprint(a.print.TextOut(), joinLines(data.Lines()))
		return err
	}
	if err := a.confirmDataLoss(data, force); err != nil {
		return err
	}
	progress := &output.Steps{Printer: a.print}
	err = olm.Uninstall(ctx, olm.UninstallOptions{
		Client: cluster, Found: found, Data: data, Grace: min(finalizerGrace, o.timeout/gracePart), Reporter: olm.Reporter{Progress: progress.Report},
	})
	progress.End()
	if err != nil {
		return orInterrupted(ctx, err)
	}
	a.print.Progressf("%s is removed", strings.TrimSpace("OLM "+found.Version))
	return nil
}

// confirmDataLoss asks whether objects of users may be deleted, unless --force is given.
func (a *app) confirmDataLoss(data *olm.UserData, force bool) error {
	if data.Empty() {
		return nil
	}
	lines := joinLines(data.Lines())
	if force {
		if !a.print.Quiet {
			fmt.Fprint(a.print.Text(), lines)
		}
		return nil
	}
	if !a.InTerminal || !a.OutTerminal {
		var losses diag.Findings
		for _, line := range data.Lines() {
			losses = append(losses, diag.Finding{Problem: line})
		}
		return diag.Lines("users would lose these objects, and nothing was removed:", losses, "pass --force to remove all of them")
	}
	fmt.Fprint(a.print.Text(), lines)
	remove, err := a.prompt().Confirm("Remove OLM and all of this?", false)
	if err != nil {
		return err
	}
	if !remove {
		return errors.New("nothing was removed")
	}
	return nil
}

func joinLines(lines []string) string {
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(line + "\n")
	}
	return text.String()
}
