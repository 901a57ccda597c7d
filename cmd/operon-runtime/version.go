package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/buildinfo"
)

func newVersion(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print version information",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			info := buildinfo.Read()
			_, err := fmt.Fprintf(s.out, "%s version: %q, commit: %q, commit date: %q, go version: %q, GOOS: %q, GOARCH: %q\n",
				c.Root().Name(), info.Version, info.Commit, info.CommitDate, info.Go, info.OS, info.Arch)
			return err
		},
	}
}
