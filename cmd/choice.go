package cmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/help"
	"github.com/operon-sdk/operon/pkg/diag"
)

// choiceVar adds a flag and the values that shell completion offers for it. Only checkChoice rejects others.
func choiceVar(c *cobra.Command, into *string, name, shorthand, value, usage string, values ...string) {
	c.Flags().StringVarP(into, name, shorthand, value, usage)
	completeValues(c, name, values...)
}

// checkChoice returns a finding if the value of a flag is not one of the given.
func checkChoice(flag, value string, values ...string) diag.Findings {
	if slices.Contains(values, value) {
		return nil
	}
	last := len(values) - 1
	return diag.Findings{{Field: flag, Value: value, Problem: "must be " + strings.Join(values[:last], ", ") + " or " + values[last]}}
}

// completeValues offers fixed values for a flag in shell completion. Unless the usage of the flag names its value, help shows
// them, too.
func completeValues(c *cobra.Command, flag string, values ...string) {
	if f := c.Flags().Lookup(flag); !strings.Contains(f.Usage, "`") {
		help.SetValueName(f, strings.Join(values, "|"))
	}
	complete := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	// The only error is a flag that does not exist, which leaves it without completion.
	_ = c.RegisterFlagCompletionFunc(flag, complete)
}

// addOutput adds -o to a command that prints a result. The first format is the default.
func (a *app) addOutput(c *cobra.Command, formats ...string) {
	choiceVar(c, &a.print.Format, "output", "o", formats[0], "output format", formats...)
	c.PreRunE = func(*cobra.Command, []string) error {
		return checkChoice("--output", a.print.Format, formats...).Err()
	}
}
