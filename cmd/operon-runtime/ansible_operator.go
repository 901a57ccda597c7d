package main

import "github.com/spf13/cobra"

// ansibleOperator is the name of operator-sdk's program for Ansible operators.
const ansibleOperator = "ansible-operator"

func newAnsibleOperator(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   ansibleOperator,
		Short: "Run an operator that runs Ansible roles",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newVersion(s, ansibleOperator))
	return c
}
