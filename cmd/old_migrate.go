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
		Short: "The old way to bring a project on",
		Long: `Bring a Go project of another layout to today's, as 'upgrade' does. Before operator-sdk 1.0 migrate
put Go source into operators in Ansible or Helm, which this program has no place for.`,
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
