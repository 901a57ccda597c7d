package cmd

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/scaffold"
)

// release is the version of this source tree; a module build of a tagged version overrides it.
const release = "v0.1.0-dev"

// versionInfo is what version prints; its JSON keys are part of the command's interface.
type versionInfo struct {
	Version    string `json:"version"`
	Commit     string `json:"commit"`
	Kubernetes string `json:"kubernetesVersion"`
	Go         string `json:"goVersion"`
	OS         string `json:"goOs"`
	Arch       string `json:"goArch"`
}

func newVersion(a *app) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program and of what it scaffolds",
		Example: fmt.Sprintf(`  %[1]s version
  %[1]s version -o json`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			info := buildVersion()
			switch output {
			case "", "text":
				_, err := fmt.Fprintf(a.Out, "%s version: %q, commit: %q, kubernetes version: %q, go version: %q, GOOS: %q, GOARCH: %q\n",
					a.program, info.Version, info.Commit, info.Kubernetes, info.Go, info.OS, info.Arch)
				return err
			case "json":
				encoder := json.NewEncoder(a.Out)
				encoder.SetIndent("", "  ")
				return encoder.Encode(info)
			}
			return usagef(c, "-o %q: use text or json", output)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "text", "print as text or json")
	completeValues(c, "output", "text", "json")
	return c
}

func buildVersion() versionInfo {
	info := versionInfo{
		Version: release, Commit: "unknown", Kubernetes: scaffold.Pinned().Kubernetes,
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
	}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return info
	}
	if v := build.Main.Version; v != "" && v != "(devel)" {
		info.Version = v
	}
	for _, s := range build.Settings {
		if s.Key == "vcs.revision" {
			info.Commit = s.Value
		}
	}
	return info
}

// completeValues offers fixed values for a flag in shell completion.
func completeValues(c *cobra.Command, flag string, values ...string) {
	complete := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	// The only error is a flag that does not exist, which leaves it without completion.
	_ = c.RegisterFlagCompletionFunc(flag, complete)
}
