package action

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/typecheck"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// FromRoot returns the path of an option relative to the root, with slashes.
func (p *Project) FromRoot(name string) (string, error) { return p.RelativeTo(p.Root, name) }

// RelativeTo returns the path of an option relative to a directory, with slashes.
func (c *Config) RelativeTo(root, name string) (string, error) {
	rel, err := filepath.Rel(root, c.Absolute(name))
	if err != nil {
		return "", err
	}
	return filepath.ToSlash(rel), nil
}

// Config contains the parts of the environment that commands use.
type Config struct {
	// FS contains the project. Its paths are absolute.
	FS afero.Fs
	// Dir is the directory that relative paths in options are relative to.
	Dir string
	// Environ is the environment of code generation, as KEY=VALUE.
	Environ []string
	// GOPATH contains module paths of projects without go.mod; empty means unknown.
	GOPATH string
	// Year replaces YEAR in license headers; if empty, YEAR is removed.
	Year string
	// SourceDate is the time in generated files; zero means the current time.
	SourceDate time.Time
	// Program is the name of the command line in messages and generated files.
	Program string
	// Version is the version of the program.
	Version string
	// Go runs the go command.
	Go gotool.Go
	// Layouts are the layouts of projects, with what commands do with their kinds.
	Layouts []Layout
	// Charts fetches and renders Helm charts.
	Charts helmchart.Runtime
	// Build identifies the build of the program. If it is empty, results that depend on the build are not cached.
	Build string
	// Remote decides about references of kustomizations to other machines.
	Remote manifest.Remote
	// CacheDir is the directory for caches, or empty for none.
	CacheDir string
	// StateDirs are the candidates for the user's state directory, as of userstate.Dirs.
	StateDirs []string

	// Fix makes code generation correct the source where only one correction is possible.
	Fix bool
	// DryRun makes commands return the changes without writing them.
	DryRun bool
	// Command is the command line, which other processes print while they wait for the lock, and by which an interrupted
	// command is recognized if it is repeated.
	Command string
	// LockTimeout is the maximum time to wait for another command in the project; 0 means no limit.
	LockTimeout time.Duration

	// Now is the clock; nil leaves durations out of messages.
	Now func() time.Time
	// Report receives findings of one severity while a command runs; nil discards them.
	Report func(diag.Findings)
	// Step runs a step of a command that may take long; nil only runs it. describe returns what the step does at the moment,
	// beginning with a present participle.
	Step func(describe func() string, RunStep func() error) error
}

// Versions returns the versions that projects are scaffolded with. A development build pins the release that it becomes, so that
// projects do not change with it.
func (c *Config) Versions() scaffold.Versions {
	versions := scaffold.Pinned()
	versions.Operon = strings.TrimSuffix(c.Version, "-dev")
	return versions
}

// Reportf reports a message while the command runs.
func (c *Config) Reportf(severity diag.Severity, format string, args ...any) {
	c.ReportFindings(severity, diag.Finding{Problem: fmt.Sprintf(format, args...)})
}

// ReportFindings reports findings with a severity while the command runs.
func (c *Config) ReportFindings(severity diag.Severity, findings ...diag.Finding) {
	if c.Report == nil || len(findings) == 0 {
		return
	}
	findings = slices.Clone(findings)
	for i := range findings {
		findings[i].Severity = severity
	}
	c.Report(findings)
}

// RunStep runs a step that may take long. The description begins with a present participle.
func (c *Config) RunStep(description string, step func() error) error {
	if c.Step == nil {
		return step()
	}
	return c.Step(func() string { return description }, step)
}

// lockOptions returns how to wait for another command that changes the project.
func (c *Config) lockOptions() worktree.LockOptions {
	return worktree.LockOptions{
		Command: c.Command,
		Timeout: c.LockTimeout,
		Waiting: func(holder worktree.Holder, waited time.Duration) {
			c.Reportf(diag.Progress, "waiting for %s, which is changing this project (%s)", holder, waited)
		},
		Unlocked: func() {
			c.Reportf(diag.Warning, "this file system does not support locks; do not run two commands at once in this project")
		},
	}
}

// Absolute returns a path of an option as an absolute path.
func (c *Config) Absolute(name string) string {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(c.Dir, name)
}

// Types checks the types of the code of projects.
func (c Config) Types() typecheck.Checker {
	checker := typecheck.Checker{Go: c.Go, Environ: c.Environ, Report: c.Step, Version: c.Version}
	if c.CacheDir != "" {
		checker.CacheDir = filepath.Join(c.CacheDir, "typecheck")
	}
	return checker
}
