package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/operon-sdk/operon/pkg/helmoperator"
)

// helmOperator is the name of operator-sdk's program for Helm operators.
const helmOperator = "helm-operator"

func newHelmOperator(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   helmOperator,
		Short: "Run an operator that installs Helm charts",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newHelmOperatorRun(s), newVersion(s, helmOperator))
	return c
}

func newHelmOperatorRun(s streams) *cobra.Command {
	var o helmOptions
	c := &cobra.Command{
		Use:   "run",
		Short: "Reconcile the kinds in watches.yaml",
		Long: `Reconcile the kinds in watches.yaml, each with its Helm chart, until the program is interrupted.

Environment variables:
  WATCH_NAMESPACE  namespaces to reconcile, separated by commas; all if it is empty
  KUBECONFIG       kubeconfig file; in a pod, its service account is used without one
  OPERATOR_NAME    deprecated: the default of --leader-election-id`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.complete(s.getenv); err != nil {
				return err
			}
			return o.run(c.Context(), s)
		},
	}
	o.bind(c, flagDefaults{reconcilePeriod: time.Minute, metricsAddress: ":8080", probeAddress: ":8081", content: "charts"})
	c.Flags().BoolVar(&o.suppressOverrides, "suppress-override-values", false, "hide the values of overrideValues in events")
	return c
}

// helmOptions are the flags and variables of "helm-operator run".
type helmOptions struct {
	managerOptions
	suppressOverrides bool
}

// run reconciles until ctx ends. Keys of watches.yaml have precedence over flags.
func (o *helmOptions) run(ctx context.Context, s streams) error {
	reconcilers, err := helmoperator.LoadWatches(o.watchesFile, nil,
		helmoperator.WithReconcilePeriod(o.reconcilePeriod),
		helmoperator.WithMaxConcurrentReconciles(o.maxConcurrent),
		helmoperator.WithSuppressOverrideValues(o.suppressOverrides),
		helmoperator.WithNamespaces(o.namespaces...))
	if err := o.checkWatches(len(reconcilers), err); err != nil {
		return err
	}
	return runReconcilers(ctx, &o.managerOptions, s, reconcilers, func(mgr manager.Manager) error {
		return helmoperator.Setup(mgr, reconcilers...)
	})
}
