package cmd

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/buildinfo"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

func newVersion(a *app) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "version",
		Short: "Print version information",
		Example: fmt.Sprintf(`  %[1]s version
  %[1]s version -o json`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch output {
			case "", "text":
				return a.printVersion()
			case "json":
				encoder := json.NewEncoder(a.Out)
				encoder.SetIndent("", "  ")
				return encoder.Encode(buildVersion())
			}
			return usagef(c, "-o %q: use text or json", output)
		},
	}
	choiceVar(c, &output, "output", "o", "text", "output format", "text", "json")
	return c
}

// printVersion prints the version as one line.
func (a *app) printVersion() error {
	info := buildVersion()
	_, err := fmt.Fprintf(a.Out, "%s version: %q, commit: %q, commit date: %q, kubernetes version: %q, go version: %q, GOOS: %q, GOARCH: %q\n",
		a.program, info.Version, info.Commit, info.CommitDate, info.Kubernetes, info.Go, info.OS, info.Arch)
	return err
}

// buildVersion returns the version of this build.
func buildVersion() buildinfo.Info {
	info := buildinfo.Read()
	info.Kubernetes = scaffold.Pinned().Kubernetes
	return info
}

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
		setValueName(f, strings.Join(values, "|"))
	}
	complete := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	// The only error is a flag that does not exist, which leaves it without completion.
	_ = c.RegisterFlagCompletionFunc(flag, complete)
}
