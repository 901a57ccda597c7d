package cmd

import (
	"regexp"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestNoStaleHelp checks that no help and no flag, including hidden ones, denies Helm and Ansible operators.
func TestNoStaleHelp(t *testing.T) {
	t.Parallel()
	stale := regexp.MustCompile(`(?i)(helm|ansible)[^.;]*(unsupported|not supported)|kubernetes operators in go:`)
	visitCommands("operon", func(c *cobra.Command) {
		texts := c.Short + "\n" + c.Long
		c.Flags().VisitAll(func(f *pflag.Flag) { texts += "\n" + f.Usage })
		if found := stale.FindString(texts); found != "" {
			t.Errorf("%s: %q", c.CommandPath(), found)
		}
	})
}
