package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
)

// newOldMigrate is a command that put Go source into operators in Ansible or Helm. What is called a
// migration today is upgrade.
func newOldMigrate(a *app) *cobra.Command {
	const today = "upgrade"
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Upgrade the project (now 'upgrade')",
		Long: `Upgrade a Go project of another layout to the current one, like 'upgrade'. Before operator-sdk 1.0,
migrate added Go source to Ansible and Helm operators, which is not supported.`,
		Example: fmt.Sprintf("  %s upgrade", a.program),
		Args:    noArgs,
	}
	retiredFlags := []retired{
		{name: "header-file", today: "has no use: the project's hack/boilerplate.go.txt is the header"},
		{name: "repo", today: "has no use: go.mod says it"},
		{name: "dep-manager", today: "must be modules: projects are Go modules", fine: []string{"modules"}},
	}
	addRetired(c, retiredFlags)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if findings := retiredUsed(c, retiredFlags); len(findings) > 0 {
			return findings
		}
		if target, _, err := c.Root().Find([]string{today}); err == nil && target.Name() == today {
			return a.runToday(c, []string{today})
		}
		return usagef(c, "'%s' is '%s %s' today, which this build lacks", c.CommandPath(), a.program, today)
	}
	return c
}
