package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/helmchart"
)

// helmOperator and ansibleOperator are the names of the commands that run operators without Go code, and of operator-sdk's programs
// that do the same.
const (
	helmOperator    = "helm-operator"
	ansibleOperator = "ansible-operator"
)

func newHelmOperator(a *app) *cobra.Command {
	return newOperatorProgram(a, helmOperator, "Run an operator that installs Helm charts",
		`Run the operator of a Helm project: for each custom resource of a kind in watches.yaml, it installs
the chart of the kind with the resource's spec as values, and repairs, upgrades and uninstalls it.`)
}

func newAnsibleOperator(a *app) *cobra.Command {
	return newOperatorProgram(a, ansibleOperator, "Run an operator that runs Ansible roles",
		`Run the operator of an Ansible project: for each custom resource of a kind in watches.yaml, it runs
the role or playbook of the kind with the resource's spec as variables, after each change and
periodically. It requires ansible-runner, Ansible and Ansible's collections on this machine.`)
}

// newOperatorProgram returns a command that passes its arguments to the command of operon-runtime with the same name. what is the
// first part of its description.
func newOperatorProgram(a *app, name, short, what string) *cobra.Command {
	return &cobra.Command{
		Use:   name + " [COMMAND] [ARGUMENT]...",
		Short: short,
		Long: fmt.Sprintf(`%[3]s

All arguments are passed to the program operon-runtime, which is built and installed with operon.
Operon looks for it in its own directory and then in PATH. It has the flags, environment variables
and files of operator-sdk's %[2]s; a symlink with that name to this program runs it.

'%[1]s %[2]s run --help' lists the flags.`, a.program, name, what),
		Example: fmt.Sprintf(`  # Run the operator of this project against the cluster of KUBECONFIG:
  %[1]s %[2]s run

  # Reconcile the resources of one namespace:
  WATCH_NAMESPACE=team-a %[1]s %[2]s run --zap-log-level debug`, a.program, name),
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) == 1 && slices.Contains([]string{"-h", "--help"}, args[0]) {
				return c.Help()
			}
			return runRuntime(c.Context(), a.Env, append([]string{name}, args...)...)
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			program, err := a.RuntimeProgram()
			if err != nil || a.enterDirectory() != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			arguments := slices.Concat([]string{name}, args, []string{toComplete})
			return completeWith(c.Context(), a.Env, Command{Dir: a.Dir, Environ: a.Environ, Name: program}, arguments)
		},
	}
}

// runRuntime runs operon-runtime with its exit code. It ends gracefully if this program is asked to end.
func runRuntime(ctx context.Context, e *Env, args ...string) error {
	program, err := e.RuntimeProgram()
	if err != nil {
		return err
	}
	err = e.Run(ctx, Command{Dir: e.Dir, Environ: e.Environ, Out: e.Out, Err: e.Err, Name: program, Args: args, Tied: true})
	if ended, ok := errors.AsType[exitCoder](err); ok && ended.ExitCode() > 0 {
		return &controlplane.ExitError{Code: ended.ExitCode()} // the program has printed why
	}
	if errors.Is(err, context.Canceled) {
		return nil // the exit code of the program was 0
	}
	if err != nil && ctx.Err() != nil {
		return errInterrupted
	}
	if err != nil {
		return fmt.Errorf("running %s: %w", helmchart.Program, err)
	}
	return nil
}
