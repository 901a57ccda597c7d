package cmd

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	"golang.org/x/mod/semver"

	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/buildinfo"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

func newVersion(a *app) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "version",
		Short: "Print version information",
		Long: `Print the version of this program, its commit, and the versions of Go and of the Kubernetes libraries. In a
project that an older Operon scaffolded or upgraded last, a note on stderr says so. Nothing is looked up on
the network.`,
		Example: fmt.Sprintf(`  %[1]s version
  %[1]s version -o json`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			a.noteOlderScaffold()
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

// noteOlderScaffold prints a note if the project that the working directory is in has the scaffold of an older Operon.
func (a *app) noteOlderScaffold() {
	root, err := a.ProjectRoot()
	if err != nil {
		return // version works everywhere
	}
	makefile, err := a.at(root).Original().ReadOptional(project.Makefile)
	if err != nil {
		return
	}
	config := a.actions()
	pinned, current := project.PinnedOperon(makefile), config.Versions().Operon
	if pinned != "" && semver.Compare(pinned, current) < 0 {
		a.print.Notef("note: this project has the scaffold of Operon %s; run '%s upgrade' to bring it up to %s", pinned, a.program, current)
	}
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
