package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/olm/operator"
)

// cleanupOptions are the flags of cleanup.
type cleanupOptions struct {
	operatorOptions
	all, crds, groups bool
}

func newCleanup(a *app) *cobra.Command {
	o := &cleanupOptions{}
	c := &cobra.Command{
		Use:   "cleanup PACKAGE",
		Short: "Remove an operator that was installed with OLM",
		Long: `Remove a package's operator with everything that 'run' created for it: the subscription, the catalog
and its pod, the OperatorGroup, and by default the operator's CRDs with all their custom resources.
The operator runs until its custom resources are gone, so that it can handle their finalizers.

What others created is kept: your own catalogs and OperatorGroups, other operators, and CRDs that
another operator serves too. Run the command again to complete an interrupted removal. It isn't an
error if there is nothing to remove.`,
		Example: fmt.Sprintf(`  # The operator and its custom resources:
  %[1]s cleanup memcached-operator

  # Only the operator:
  %[1]s cleanup memcached-operator --delete-all=false`, a.program),
		Args: oneArgument("the package in the bundle's annotations"),
		RunE: func(c *cobra.Command, args []string) error { return a.cleanup(c.Context(), args[0], o) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			if config := a.completionProject(); config != nil {
				return []string{config.ProjectName()}, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
	}
	o.add(c)
	flags := c.Flags()
	flags.BoolVar(&o.all, "delete-all", true, "delete everything, as if all other --delete flags were given")
	flags.BoolVar(&o.crds, "delete-crds", false, "delete the operator's CRDs with their custom resources")
	flags.BoolVar(&o.groups, "delete-operator-groups", false, "delete the OperatorGroup that 'run' created, if nothing else needs it")
	return c
}

func (a *app) cleanup(ctx context.Context, pkg string, o *cleanupOptions) error {
	if err := o.check().Err(); err != nil {
		return err
	}
	ctx, stop := o.limited(ctx)
	defer stop()
	client, err := a.connectIn(ctx, &o.operatorOptions, a.connect)
	if err != nil {
		return err
	}
	namespace := client.Namespace
	options := operator.CleanupOptions{
		Client: client, Namespace: namespace, Package: pkg, DeleteCRDs: o.all || o.crds, DeleteGroups: o.all || o.groups, DryRun: a.dryRun,
	}
	var removed int
	err = runOperator(ctx, a.print, &options.Reporter, func() (err error) {
		removed, err = operator.Cleanup(ctx, options)
		return err
	})
	switch {
	case err != nil:
		return err
	case removed == 0:
		a.print.Progressf("nothing of the package %s found in the namespace %s", pkg, namespace)
	case !a.dryRun:
		a.print.Progressf("the operator of the package %s is removed", pkg)
	}
	return nil
}
