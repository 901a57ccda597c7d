package cmd

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/cmd/internal/words"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/goenv"
)

// retiredTest are the flags of test local that are no longer supported.
func retiredTest() []retired {
	const manifests = "is not needed: the tests deploy with 'make deploy', or start their own API server"
	const namespace = "is set in the tests of the project"
	return []retired{
		{"up-local", "is replaced by 'run local' in another terminal", []string{"false"}},
		{"local-operator-flags", "is replaced by 'go run ./cmd' with the flags, in another terminal", nil},
		{"image", "is the IMG of 'make deploy', which the tests call", nil},
		{"global-manifest", manifests, nil},
		{"namespaced-manifest", manifests, nil},
		{"no-setup", "is the default behavior", []string{"true", "false"}},
		{"skip-cleanup-error", "is the default behavior", []string{"true", "false"}},
		{"namespace", namespace, nil},
		{"operator-namespace", namespace, nil},
		{"watch-namespace", namespace, nil},
		{"molecule-test-flags", "is replaced by 'molecule test' with the flags in an Ansible project, or by 'make molecule'", nil},
	}
}

// oldTest contains the flags of test local.
type oldTest struct {
	kubeconfig, flags string
	debug             bool
}

func newOldTestLocal(a *app) *cobra.Command {
	var o oldTest
	c := a.oldCommand("local [DIR]", "Run the project's tests (now 'make test', 'make test-e2e')",
		`Run the project's tests, with the API server that they start. Tests in a directory named e2e run
with the build tag e2e, on the cluster of the kubeconfig. 'make test-e2e' runs them on a new
cluster.`,
		"  %[1]s test local ./test/e2e --kubeconfig ~/.kube/dev\n  make test",
		func(c *cobra.Command, args []string) error { return a.runOldTest(c, args, o) })
	c.Args = nil // runOldTest reports them with the flags
	f := c.Flags()
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig `file`")
	f.StringVar(&o.flags, "go-test-flags", "", "more `flags` of go test, as one argument")
	f.BoolVar(&o.debug, "debug", false, "print more, like go test -v")
	addRetired(c, retiredTest())
	return c
}

func (a *app) runOldTest(c *cobra.Command, args []string, o oldTest) error {
	findings := retiredUsed(c, retiredTest())
	var more []string
	if strings.TrimSpace(o.flags) != "" {
		var err error
		if more, err = words.Split(o.flags); err != nil {
			findings.Add("--go-test-flags", o.flags, err.Error())
		}
	}
	if len(args) > 1 {
		findings = append(findings, diag.Finding{Field: "DIR", Value: strings.Join(args, " "), Problem: "must be one directory"})
	}
	if len(findings) > 0 {
		return findings
	}
	root, err := a.ProjectRoot()
	if err != nil {
		return err
	}
	testDir := ""
	if len(args) == 1 {
		if testDir, err = a.testDirectory(root, args[0]); err != nil {
			return err
		}
	}
	command := []string{"test"}
	e2e := path.Base(testDir) == "e2e"
	if e2e {
		command = append(command, "-tags=e2e", "-count=1", "-timeout=0")
		a.noteReplacement(c, "make test-e2e")
	} else {
		a.noteReplacement(c, "make test")
	}
	if o.debug {
		command = append(command, "-v")
	}
	command = append(append(command, more...), "./"+path.Join(testDir, "..."))
	if a.dryRun {
		a.print.Progressf("would run: %s", words.Join(append([]string{"go"}, command...)))
		return nil
	}
	ctx, stop := env.UntilInterrupted(c.Context())
	defer stop()
	variables, err := a.testVariables(ctx, e2e, o.kubeconfig)
	if err != nil {
		return err
	}
	err = a.RunGo(ctx, root, variables, a.Out, a.Err, command...)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errInterrupted
	case errors.Is(err, codegen.ErrGoMissing), is[*goenv.Error](err):
		return err
	}
	return fmt.Errorf("the tests failed: go %s: %w", words.Join(command), diag.Cause(err))
}

// testDirectory returns the directory of tests, relative to the project's root.
func (a *app) testDirectory(root, name string) (string, error) {
	dir := a.Dir
	given := name
	name = strings.TrimSuffix(strings.TrimSuffix(name, "..."), "/")
	testDir, err := filepath.Rel(root, env.Absolute(dir, filepath.FromSlash(name)))
	if err != nil {
		return "", err
	}
	testDir = filepath.ToSlash(testDir)
	if action.IsOutside(testDir) {
		return "", diag.Findings{{Field: "DIR", Value: given, Problem: "is outside of the project"}}
	}
	if info, err := a.FS.Stat(filepath.Join(root, filepath.FromSlash(testDir))); err != nil || !info.IsDir() {
		return "", diag.Findings{{Field: "DIR", Value: given, Problem: "no such directory"}}
	}
	return testDir, nil
}

// testVariables returns the environment variables that configure the API server of tests.
func (a *app) testVariables(ctx context.Context, e2e bool, kubeconfig string) ([]string, error) {
	var variables []string
	if kubeconfig != "" {
		variables = append(variables, "KUBECONFIG="+a.Absolute(kubeconfig))
	}
	if e2e || a.Getenv("KUBEBUILDER_ASSETS") != "" {
		return variables, nil
	}
	assets, err := controlplane.Ensure(ctx, a.controlPlaneOptions())
	if err != nil {
		return nil, err
	}
	return append(variables, "KUBEBUILDER_ASSETS="+assets.Dir), nil
}
