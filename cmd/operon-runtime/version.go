package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/buildinfo"
)

// newVersion returns the command that prints the version of a program, whose name existing scripts expect.
func newVersion(s streams, program string) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print version information",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			info := buildinfo.Read()
			_, err := fmt.Fprintf(s.out, "%s version: %q, commit: %q, commit date: %q, go version: %q, GOOS: %q, GOARCH: %q\n",
				program, info.Version, info.Commit, info.CommitDate, info.Go, info.OS, info.Arch)
			return err
		},
	}
}
