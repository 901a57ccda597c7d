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

// helmOperator is the name of the command, and of operator-sdk's program that does the same.
const helmOperator = "helm-operator"

func newHelmOperator(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   helmOperator + " [COMMAND] [ARGUMENT]...",
		Short: "Run an operator that installs Helm charts",
		Long: fmt.Sprintf(`Run the operator of a Helm project: for each custom resource of a kind in watches.yaml, it installs
the chart of the kind with the resource's spec as values, and repairs, upgrades and uninstalls it.

All arguments are passed to the program operon-runtime, which is built and installed with operon. It
is searched in the directory of operon and then in PATH. Its flags, environment variables and files
are those of operator-sdk's helm-operator, and a link with that name to this program runs it.

'%s helm-operator run --help' lists the flags.`, a.program),
		Example: fmt.Sprintf(`  # Run the operator of this project against the cluster of KUBECONFIG:
  %[1]s helm-operator run

  # Reconcile the resources of one namespace:
  WATCH_NAMESPACE=team-a %[1]s helm-operator run --zap-log-level debug`, a.program),
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) == 1 && slices.Contains([]string{"-h", "--help"}, args[0]) {
				return c.Help()
			}
			return a.runRuntime(c.Context(), append([]string{helmOperator}, args...)...)
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			program, err := a.runtimeProgram()
			if err != nil || a.enterDirectory() != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			arguments := slices.Concat([]string{helmOperator}, args, []string{toComplete})
			return a.completeWith(c.Context(), Command{Dir: a.Dir, Environ: a.Environ, Name: program}, arguments)
		},
	}
}

// runRuntime runs operon-runtime with its exit code. It ends gracefully if this program is asked to end.
func (a *app) runRuntime(ctx context.Context, args ...string) error {
	program, err := a.runtimeProgram()
	if err != nil {
		return err
	}
	err = a.Run(ctx, Command{Dir: a.Dir, Environ: a.Environ, Out: a.Out, Err: a.Err, Name: program, Args: args, Tied: true})
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
