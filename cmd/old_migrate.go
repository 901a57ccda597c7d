package cmd

import "github.com/spf13/cobra"

// newOldMigrate returns the command migrate, which added Go source to Ansible and Helm operators. It runs upgrade, which migrates
// projects of other layouts.
func newOldMigrate(a *app) *cobra.Command {
	c := a.oldCommand("migrate", "Upgrade the project (now 'upgrade')",
		`Upgrade a Go project of another layout to the current one, like 'upgrade'. Before operator-sdk 1.0,
migrate added Go source to Ansible and Helm operators. Today, start a Go project and add the charts
with 'create api --helm-chart'.`, "  %s upgrade",
		func(c *cobra.Command, _ []string) error { return a.runReplacement(c, []string{"upgrade"}) })
	refuseRetired(c, []retired{
		{"header-file", "is not needed: the header is in hack/boilerplate.go.txt", nil},
		{"repo", "is not needed: go.mod contains it", nil},
		{"dep-manager", modulesOnly, []string{"modules"}},
	})
	return c
}
