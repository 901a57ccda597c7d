package cmd

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/module"

	"github.com/operon-sdk/operon/pkg/scaffold"
)

// release is the version of this source tree. The version of a tagged module overrides it.
const release = "v0.1.0-dev"

// commit and commitDate identify the commit that the program was built from. "make build" sets them with the linker's
// -X flag. They are empty in other builds, which buildSource identifies by what the go command records.
var commit, commitDate string

// unknown replaces a commit or date that a build does not record.
const unknown = "unknown"

// versionInfo is the output of version; its JSON keys are part of the command's interface.
type versionInfo struct {
	Version    string `json:"version"`
	Commit     string `json:"commit"`
	CommitDate string `json:"commitDate"`
	Kubernetes string `json:"kubernetesVersion"`
	Go         string `json:"goVersion"`
	OS         string `json:"goOs"`
	Arch       string `json:"goArch"`
}

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
	c.Flags().StringVarP(&output, "output", "o", "text", "output format")
	completeValues(c, "output", "text", "json")
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
func buildVersion() versionInfo {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		build = &debug.BuildInfo{}
	}
	info := buildSource(build)
	if commit != "" {
		info.Commit, info.CommitDate = commit, commitDate
	}
	info.Kubernetes = scaffold.Pinned().Kubernetes
	info.Go, info.OS, info.Arch = runtime.Version(), runtime.GOOS, runtime.GOARCH
	return info
}

// buildSource returns the version, the commit and its date that the go command recorded: in a clone those of the
// repository, in a downloaded module those of its pseudo-version.
func buildSource(build *debug.BuildInfo) versionInfo {
	info := versionInfo{Version: release, Commit: unknown, CommitDate: unknown}
	switch v := build.Main.Version; {
	case v == "" || v == "(devel)":
	case !module.IsPseudoVersion(v):
		info.Version = v
	default:
		if revision, err := module.PseudoVersionRev(v); err == nil {
			info.Commit = revision
		}
		if date, err := module.PseudoVersionTime(v); err == nil {
			info.CommitDate = date.Format(time.RFC3339)
		}
	}
	modified := false
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			info.Commit = s.Value
		case "vcs.time":
			info.CommitDate = s.Value
		case "vcs.modified":
			modified = s.Value == "true"
		}
	}
	if modified {
		info.Commit += "-dirty"
	}
	return info
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
