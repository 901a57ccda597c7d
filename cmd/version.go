package cmd

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/buildinfo"
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
				return printVersion(a.print)
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
func printVersion(p *output.Printer) error {
	info := buildVersion()
	_, err := fmt.Fprintf(p.Out, "%s version: %q, commit: %q, commit date: %q, kubernetes version: %q, go version: %q, GOOS: %q, GOARCH: %q\n",
		p.Program, info.Version, info.Commit, info.CommitDate, info.Kubernetes, info.Go, info.OS, info.Arch)
	return err
}

// buildVersion returns the version of this build.
func buildVersion() buildinfo.Info {
	info := buildinfo.Read()
	info.Kubernetes = scaffold.Pinned().Kubernetes
	return info
}
