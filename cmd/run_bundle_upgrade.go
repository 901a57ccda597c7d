package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/olm/operator"
)

func newRunBundleUpgrade(a *app) *cobra.Command {
	o := &runOptions{}
	c := &cobra.Command{
		Use:   "bundle-upgrade IMAGE|DIR|OCI-LAYOUT",
		Short: "Upgrade an operator to a bundle with OLM",
		Long: `Upgrade an operator that OLM installed, through 'run bundle' or your own subscription, to the
version of a bundle, and wait until it is ready. The custom resources are kept.

The bundle is offered as the successor of the installed version, no matter what it says about other
versions. If other subscriptions use the same catalog, this one moves to a new catalog, and theirs
doesn't change.`,
		Example: fmt.Sprintf(`  # The next version, without a registry for its bundle:
  %[1]s bundle --version 0.0.2 --image example.com/memcached-operator:v0.0.2
  %[1]s run bundle-upgrade ./bundle

  # An image:
  %[1]s run bundle-upgrade quay.io/example/memcached-operator-bundle:v0.0.2 -n memcached`, a.program),
		Args: oneArgument("an image, a bundle directory or an OCI layout"),
		RunE: func(c *cobra.Command, args []string) error { return a.runBundleUpgrade(c.Context(), args[0], o) },
	}
	o.addServing(c)
	o.addPulling(c)
	return c
}

func (a *app) runBundleUpgrade(ctx context.Context, arg string, o *runOptions) error {
	findings, _ := o.check(a.dryRun)
	if err := findings.Err(); err != nil {
		return err
	}
	ctx, stop := o.limited(ctx)
	defer stop()
	client, err := a.connectIn(ctx, &o.operatorOptions, a.connectWithNodes)
	if err != nil {
		return err
	}
	namespace := client.Namespace
	source, ref, err := a.runSource(ctx, client, namespace, arg, o)
	if err != nil {
		return err
	}
	installed, err := operator.FindInstalled(ctx, client, namespace, source.Package)
	if err != nil {
		return err
	}
	bundle, err := operator.NewBundle(ctx, source, ref, installed.Channel, installed.Replaces(source.Name))
	if err != nil {
		return err
	}
	a.print.Progressf("Generated a valid Upgraded File-Based Catalog")
	options := operator.RunOptions{Client: client, Namespace: namespace, Bundle: bundle, Serving: o.serving(a)}
	a.pushCatalogTo(&options, o)
	if a.dryRun {
		objects, err := operator.UpgradeObjects(ctx, options, installed)
		if err != nil {
			return err
		}
		a.print.Progressf("the Subscription %s would be changed to the catalog, to replace %s", installed.Subscription, installed.CSV)
		return a.print.Objects(objects, o.output)
	}
	return runOperator(ctx, a.print, &options.Reporter, func() error { return operator.Upgrade(ctx, options, installed) })
}
