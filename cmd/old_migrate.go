package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
)

// newOldMigrate returns the command migrate, which added Go source to Ansible and Helm operators. It runs upgrade, which migrates
// projects of other layouts.
func newOldMigrate(a *app) *cobra.Command {
	const current = "upgrade"
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Upgrade the project (now 'upgrade')",
		Long: `Upgrade a Go project of another layout to the current one, like 'upgrade'. Before operator-sdk 1.0,
migrate added Go source to Ansible and Helm operators. Today, start a Go project and add the charts
with 'create api --helm-chart'.`,
		Example: fmt.Sprintf("  %s upgrade", a.program),
		Args:    noArgs,
	}
	retiredFlags := []retired{
		{name: "header-file", instead: "is not needed: the header is in hack/boilerplate.go.txt"},
		{name: "repo", instead: "is not needed: go.mod contains it"},
		{name: "dep-manager", instead: "must be modules: projects are Go modules", fine: []string{"modules"}},
	}
	addRetired(c, retiredFlags)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if findings := retiredUsed(c, retiredFlags); len(findings) > 0 {
			return findings
		}
		if target, _, err := c.Root().Find([]string{current}); err == nil && target.Name() == current {
			return a.runReplacement(c, []string{current})
		}
		return usagef(c, "'%s' is now '%s %s', which is missing in this build", c.CommandPath(), a.program, current)
	}
	return c
}
