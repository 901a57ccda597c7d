package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/olm"
)

// finalizerGrace is how long something that is deleted may take before its finalizers are taken away; of little
// time it may take a part.
const finalizerGrace, gracePart = 20 * time.Second, 8

func newOLMUninstall(a *app) *cobra.Command {
	o, force := &olmOptions{}, false
	c := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove OLM from the cluster",
		Long: `Remove OLM with its operators, subscriptions, catalogs and namespaces, in an order in which nothing
waits for what is gone already. The definitions of operators' own resources stay, and so do the
resources, unless they are in a namespace that goes.

What users would lose is listed, and taken only after a yes at the terminal or with --force.
A removal that was interrupted is completed, and namespaces that do not go are freed from what
holds them.`,
		Example: fmt.Sprintf(`  # See what would go:
  %[1]s olm uninstall --dry-run

  # Remove it with all operators that it has installed:
  %[1]s olm uninstall --force --timeout 5m`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check().Err(); err != nil {
				return err
			}
			return a.olmUninstall(c.Context(), o, force)
		},
	}
	o.add(c, "`namespace` that OLM runs in", "`version` that should be installed (default: what the cluster says)", "")
	c.Flags().BoolVar(&force, "force", false, "remove operators and what else users have, without asking")
	return c
}

func (a *app) olmUninstall(ctx context.Context, o *olmOptions, force bool) error {
	ctx, stop := o.limited(ctx)
	defer stop()
	cluster, found, err := a.opened(ctx, o)
	if err != nil {
		return err
	}
	if !found.Present {
		a.progressf("OLM is not installed in the namespace %s; there is nothing to remove", o.namespace)
		return nil
	}
	data, err := olm.Inventory(ctx, cluster, found)
	if err != nil {
		return err
	}
	if a.dryRun {
		a.progressf("OLM %s goes, with the namespaces %s", found.Version, strings.Join(found.Namespaces(), " and "))
		_, err := fmt.Fprint(a.Out, joinLines(data.Lines()))
		return err
	}
	if err := a.consent(data, force); err != nil {
		return err
	}
	progress := &olmProgress{app: a}
	err = olm.Uninstall(ctx, olm.UninstallOptions{
		Client: cluster, Found: found, Data: data, Grace: min(finalizerGrace, o.timeout/gracePart), Progress: progress.tell,
	})
	progress.end()
	if err != nil {
		return orInterrupted(ctx, err)
	}
	a.progressf("%s is removed", strings.TrimSpace("OLM "+found.Version))
	return nil
}

// consent asks whether what users have may go, where nobody has said so with --force.
func (a *app) consent(data *olm.UserData, force bool) error {
	if data.Empty() {
		return nil
	}
	lines := joinLines(data.Lines())
	if force {
		a.progressf("%s", strings.TrimSuffix(lines, "\n"))
		return nil
	}
	if !a.InTerminal || !a.OutTerminal {
		return fmt.Errorf("users would lose what they have, and nothing was removed:\n%srun it with --force to remove all of it", lines)
	}
	fmt.Fprint(a.Err, lines)
	answer, err := a.prompt().Input("Remove OLM and all of this? Type yes to do so:", "no", func(string) error { return nil })
	if err != nil {
		return err
	}
	if !strings.EqualFold(answer, "yes") {
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
