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
	c.AddCommand(newVersion(s, helmOperator))
	return c
}
