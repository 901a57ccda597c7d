package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/operon-sdk/operon/pkg/helmoperator"
)

// helmOperator is the name of operator-sdk's program for Helm operators.
const helmOperator = "helm-operator"

func newHelmOperator(s streams) *cobra.Command {
	var o helmOptions
	run := newRun(s, &o, `Reconcile the kinds in watches.yaml, each with its Helm chart, until the program is interrupted.

Environment variables:
  WATCH_NAMESPACE  namespaces to reconcile, separated by commas; all if it is empty
  KUBECONFIG       kubeconfig file; in a pod, its service account is used without one
  OPERATOR_NAME    deprecated: the default of --leader-election-id`)
	o.bind(run, flagDefaults{reconcilePeriod: time.Minute, metricsAddress: ":8080", probeAddress: ":8081", content: "charts"})
	run.Flags().BoolVar(&o.suppressOverrides, "suppress-override-values", false, "hide the values of overrideValues in events")
	run.Flags().DurationVar(&o.timeout, "timeout", 0, "`time` to wait for one hook of a chart, such as a migration; 0 waits without limit")
	return newProgram(s, helmOperator, "Run an operator that installs Helm charts", run)
}

// helmOptions are the flags and variables of "helm-operator run".
type helmOptions struct {
	managerOptions
	suppressOverrides bool
	timeout           time.Duration
}

func (o *helmOptions) complete(getenv func(string) string) error {
	if o.timeout < 0 {
		return o.managerOptions.complete(getenv, fmt.Errorf("--timeout %q: must not be negative", o.timeout))
	}
	return o.managerOptions.complete(getenv)
}

// run reconciles until ctx ends. Keys of watches.yaml take precedence over flags.
func (o *helmOptions) run(ctx context.Context, s streams) error {
	reconcilers, err := helmoperator.LoadWatches(o.watchesFile, nil,
		helmoperator.WithOperatorName(o.operatorName()),
		helmoperator.WithReconcilePeriod(o.reconcilePeriod),
		helmoperator.WithTimeout(o.timeout),
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
