package cmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/cmd/internal/words"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/goenv"
	"github.com/operon-sdk/operon/pkg/gotest"
	"github.com/operon-sdk/operon/pkg/tempdir"
)

// suite is the Go tests of a project.
type suite struct {
	*app
	*testOptions

	// dir is where go test runs with args. line is the command for errors.
	dir, line string
	args      []string
	// results are the results for the JUnit report.
	results []*gotest.Run
}

// testSuite runs the tests of the project, once for each version of Kubernetes.
func (a *app) testSuite(ctx context.Context, o *testOptions) error {
	root, err := a.ProjectRoot()
	if err != nil {
		return err
	}
	if exists, err := afero.Exists(a.FS, filepath.Join(root, "go.mod")); err != nil || !exists {
		return errors.Join(err, fmt.Errorf("the project has no Go code to test; '%s test behavior' tests what the operator does", a.program))
	}
	ctx, stop := env.UntilInterrupted(ctx)
	defer stop()
	s := &suite{app: a, testOptions: o, dir: a.Dir, args: o.args, line: words.Join(slices.Concat([]string{"go", "test"}, o.args))}
	if !gotest.HasPackages(o.args) {
		s.dir, s.line = root, words.Join(slices.Concat([]string{"go", "test", "./..."}, o.args))
	}
	if a.dryRun {
		a.print.Progressf("would run: %s", s.line)
		return nil
	}
	if o.junit != "" {
		if isDir, err := afero.IsDir(a.FS, filepath.Dir(a.Absolute(o.junit))); err != nil || !isDir {
			return diag.Findings{{Field: "--junit", Value: o.junit, Problem: "its directory doesn't exist"}}
		}
	}
	if err := a.confirmCode(root, o.yes); err != nil {
		return err
	}
	return env.Interrupted(ctx, s.run(ctx))
}

func (s *suite) run(ctx context.Context) (err error) {
	if !gotest.HasPackages(s.args) {
		if err := s.addPackages(ctx); err != nil {
			return err
		}
	}
	versions := s.kubernetes
	if len(versions) == 0 {
		versions = []string{""}
	}
	for _, version := range versions {
		failure := s.runOn(ctx, version)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err = errors.Join(err, failure)
	}
	if s.junit == "" {
		return err
	}
	var report bytes.Buffer
	return errors.Join(err, gotest.WriteJUnit(&report, s.results...), afero.WriteFile(s.FS, s.Absolute(s.junit), report.Bytes(), 0o644))
}

// addPackages adds the packages of the project to the arguments, except for end-to-end tests, as in the Makefile.
func (s *suite) addPackages(ctx context.Context) error {
	var list bytes.Buffer
	// Without git, whose configuration came with the clone.
	if err := s.RunGo(ctx, s.dir, nil, &list, s.Err, "list", "-buildvcs=false", "./..."); err != nil {
		return s.failure("go list ./...", "", err)
	}
	packages := slices.DeleteFunc(strings.Fields(list.String()), func(name string) bool { return strings.Contains(name, "/e2e") })
	if len(packages) == 0 {
		return errors.New("the project has no packages to test")
	}
	s.args = slices.Concat(packages, s.args)
	return nil
}

// runOn runs the tests with a version of Kubernetes, or Operon's if it is empty.
func (s *suite) runOn(ctx context.Context, version string) error {
	assets, err := s.assets(ctx, version)
	if err != nil {
		return err
	}
	server := assets.Path(controlplane.KubeAPIServer)
	if s.controllers {
		server = s.Executable
	}
	line, suffix := s.line, ""
	if version != "" {
		s.print.Progressf("Kubernetes %s:", assets.Version)
		line, suffix = "Kubernetes "+assets.Version+": "+line, " (Kubernetes "+assets.Version+")"
	}
	dir, err := tempdir.New(cmp.Or(s.Getenv("TMPDIR"), os.TempDir()), "suite")
	if err != nil {
		return err
	}
	failures := filepath.Join(dir.Path, "failures")
	err = s.failure(line, s.remedy(), s.goTest(ctx, append(controlplane.SuiteEnv(assets, server, s.Getenv), failuresVariable+"="+failures), suffix))
	if text, readErr := afero.ReadFile(s.FS, failures); err != nil && readErr == nil { // most runs have no such file
		err = errors.Join(errors.New(strings.TrimSpace(string(text))), err)
	}
	return errors.Join(err, dir.Remove())
}

// goTest runs go test, and records the results for the JUnit report, in which suffix is part of the names of packages. go test prints nothing
// before the first package is compiled and tested.
func (s *suite) goTest(ctx context.Context, variables []string, suffix string) error {
	run := func(out io.Writer, args ...string) error {
		return s.print.Slow("compiling and running the tests", func() error {
			return s.RunGo(ctx, s.dir, variables, out, s.Err, slices.Concat(args, s.args)...)
		})
	}
	if s.junit == "" {
		return run(s.Out, "test")
	}
	result := &gotest.Run{Out: s.Out, Verbose: gotest.HasFlag(s.args, "v", "bench"), Suffix: suffix}
	s.results = append(s.results, result)
	return errors.Join(run(result, "test", "-json"), result.Close())
}

// assets returns the programs of the control planes.
func (s *suite) assets(ctx context.Context, version string) (controlplane.Assets, error) {
	o := s.controlPlaneOptions(controlplane.WorkloadParts()...)
	if version == "" {
		return controlplane.EnsureBuilt(ctx, o)
	}
	own, err := controlplane.IsOwnVersion(version)
	if err != nil {
		return controlplane.Assets{}, err
	}
	if o.Version = version; !own {
		o.Parts = nil // archives have no controllers
	}
	return controlplane.EnsureVersion(ctx, o)
}

// remedy says what to do about tests that fail.
func (s *suite) remedy() string {
	if !s.controllers {
		return ""
	}
	return "tests that set what controllers set in a cluster, such as the status of a Deployment, need --controllers=false"
}

// failure returns the error of the go command with what to do next.
func (s *suite) failure(line, remedy string, err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, codegen.ErrGoMissing), is[*goenv.Error](err):
		return err
	}
	return diag.Finding{Problem: fmt.Sprintf("%s: %v", line, diag.Cause(err)), Fix: remedy, Err: err}
}

// failuresVariable names the variable with the file for errors of runAPIServer, as envtest discards what servers print.
const failuresVariable = "OPERON_SUITE_FAILURES"

// runAPIServer takes the place of the API server that a suite starts with envtest.
func (a *app) runAPIServer(ctx context.Context, assets controlplane.Assets) error {
	ctx, stop := env.UntilInterrupted(ctx)
	defer stop()
	o := controlplane.StartOptions{TempDir: a.Getenv("TMPDIR"), Environ: a.Environ, Log: a.Err}
	err := controlplane.RunAPIServer(ctx, assets, a.Dir, a.args, o, a.Now)
	if file := a.Getenv(failuresVariable); err != nil && file != "" && !is[*controlplane.ExitError](err) {
		f, openErr := a.FS.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if openErr != nil {
			return errors.Join(err, openErr)
		}
		_, writeErr := fmt.Fprintln(f, err)
		return errors.Join(err, writeErr, f.Close())
	}
	return err
}
