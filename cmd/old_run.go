package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/cmd/internal/old"
	"github.com/operon-sdk/operon/cmd/internal/words"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/goenv"
)

func newOldUpLocal(a *app) *cobra.Command {
	var o old.Run
	c := newOld(a, "local", "Run the manager locally (now 'run local')",
		`Build the manager and run it on this machine, like 'run local', under the name of that command
before operator-sdk 1.0. The CRDs are installed too.`,
		`  %[1]s up local --namespace default --kubeconfig ~/.kube/dev
  %[1]s run local --namespace default --kubeconfig ~/.kube/dev`,
		func(c *cobra.Command, _ []string) error { return replacement{a, c}.local(&o) })
	o.AddTo(c.Flags())
	return c
}

// local runs run local.
func (r replacement) local(o *old.Run) error {
	args, err := o.Local(r.called.Flags())
	if err != nil {
		return err
	}
	return r.run([]string{"run", "local"}, args...)
}

// addOldRun adds run --local, which runs run local.
func addOldRun(a *app, c *cobra.Command) {
	var o old.Run
	var local, olm bool
	o.AddTo(c.Flags())
	c.Flags().BoolVar(&local, "local", false, "run locally (now 'run local')")
	c.Flags().BoolVar(&olm, "olm", false, "run with OLM (now 'run packagemanifests')")
	flags := []string{"local", "olm", "namespace", "watch-namespace", "kubeconfig"}
	for _, name := range flags {
		_ = c.Flags().MarkHidden(name) // the only error is a flag that does not exist
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case local:
			return replacement{a, c}.local(&o)
		case olm:
			return usagef(c, "'%s --olm' is now '%[2]s run packagemanifests', or '%[2]s run bundle' for a bundle", c.CommandPath(), a.program)
		case slices.ContainsFunc(flags[2:], c.Flags().Changed):
			return usagef(c, "use a command: '%[1]s run local' runs the manager on this machine, '%[1]s run bundle' runs an operator in a cluster", a.program)
		}
		return showHelp(c, args)
	}
	// Sub-commands do not have these flags and would ignore them.
	c.PersistentPreRunE = func(sub *cobra.Command, _ []string) error {
		if sub == c {
			return a.prepare(sub)
		}
		for _, name := range flags {
			if c.Flags().Changed(name) {
				return usagef(sub, "--%s must be given after '%s'", name, sub.Name())
			}
		}
		return a.prepare(sub) // as the hook of the root command, which this one replaces
	}
}

func newOldTestLocal(a *app) *cobra.Command {
	var o old.Test
	c := newOld(a, "local [DIR]", "Run the project's tests (now 'make test', 'make test-e2e')",
		`Run the project's tests, with the API server that they start. Tests in a directory named e2e run
with the build tag e2e, on the cluster of the kubeconfig. 'make test-e2e' runs them on a new
cluster.`,
		"  %[1]s test local ./test/e2e --kubeconfig ~/.kube/dev\n  make test",
		func(c *cobra.Command, args []string) error { return replacement{a, c}.test(args, &o) })
	c.Args = nil // Check reports them with the flags
	o.AddTo(c.Flags())
	return c
}

// test runs the tests with the go command.
func (r replacement) test(args []string, o *old.Test) error {
	if err := o.Check(r.called.Flags(), args); err != nil {
		return err
	}
	root, err := r.ProjectRoot()
	if err != nil {
		return err
	}
	dir, err := o.Directory(r.Env, root)
	if err != nil {
		return err
	}
	command, target, e2e := o.GoTest(dir)
	r.note("make " + target)
	line := words.Join(append([]string{"go"}, command...))
	if r.dryRun {
		r.print.Progressf("would run: %s", line)
		return nil
	}
	ctx, stop := env.UntilInterrupted(r.called.Context())
	defer stop()
	variables, err := r.testVariables(ctx, e2e, o.Kubeconfig)
	if err != nil {
		return err
	}
	err = r.RunGo(ctx, root, variables, r.Out, r.Err, command...)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errInterrupted
	case errors.Is(err, codegen.ErrGoMissing), is[*goenv.Error](err):
		return err
	}
	return fmt.Errorf("the tests failed: %s: %w", line, diag.Cause(err))
}

// testVariables returns the environment variables that configure the API server of tests.
func (r replacement) testVariables(ctx context.Context, e2e bool, kubeconfig string) ([]string, error) {
	var variables []string
	if kubeconfig != "" {
		variables = append(variables, "KUBECONFIG="+r.Absolute(kubeconfig))
	}
	if e2e || r.Getenv("KUBEBUILDER_ASSETS") != "" {
		return variables, nil
	}
	assets, err := controlplane.Ensure(ctx, r.controlPlaneOptions())
	if err != nil {
		return nil, err
	}
	return append(variables, "KUBEBUILDER_ASSETS="+assets.Dir), nil
}
