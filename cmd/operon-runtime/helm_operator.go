package main

import "github.com/spf13/cobra"

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
	var o options
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
	o.bind(c)
	return c
}
