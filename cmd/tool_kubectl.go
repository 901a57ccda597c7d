package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/local"
)

func newToolKubectl(a *app) *cobra.Command {
	c := a.tool(controlplane.Kubectl, "Use the control plane that run local has started", "get all -A", a.kubectl)
	c.Long = fmt.Sprintf(`Run kubectl against the control plane that 'run local' has started for the project. KUBECONFIG is
not used, unless a flag of kubectl names a cluster: --kubeconfig, --context, --cluster or --server.

kubectl is part of the control plane's program. Its own help is '%s tool kubectl help'.`, a.program)
	c.Example = fmt.Sprintf(`  # In another terminal than run local:
  %[1]s tool kubectl get pods -A
  %[1]s tool kubectl apply -k config/samples

  # Against another cluster:
  %[1]s tool kubectl --context dev get pods`, a.program)
	c.ValidArgsFunction = func(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		return a.completeKubectl(c.Context(), append(args, toComplete))
	}
	return c
}

// kubectl runs kubectl with its exit code.
func (a *app) kubectl(c *cobra.Command, dir string, args []string) error {
	if len(args) == 0 || len(args) == 1 && slices.Contains([]string{"-h", "--help"}, args[0]) {
		return c.Help()
	}
	environ, err := local.KubectlEnviron(c.Context(), a.StateDirs(), a.ProjectRoot, a.Environ, args)
	if err != nil {
		return err
	}
	assets, err := controlplane.EnsureBuilt(c.Context(), a.controlPlaneOptions(controlplane.Kubectl))
	if err != nil {
		return err
	}
	// An interrupt of the terminal reaches kubectl too. It need not end it: an editor goes on.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGTERM)
	defer stop()
	err = a.Run(ctx, Command{
		Dir: dir, Environ: environ, In: a.In, Out: a.Out, Err: a.Err, Name: assets.Path(controlplane.Kubectl), Args: args,
	})
	if ended, ok := errors.AsType[exitCoder](err); ok && ended.ExitCode() > 0 {
		return &controlplane.ExitError{Code: ended.ExitCode()} // kubectl has printed why
	}
	if err != nil && (ctx.Err() != nil || len(interrupts) > 0) {
		return errInterrupted
	}
	if err != nil {
		return fmt.Errorf("running kubectl: %w", err)
	}
	return nil
}

// An exitCoder is the error of a program that has ended. The code is negative if a signal has ended it.
type exitCoder interface {
	error
	ExitCode() int
}

// completeKubectl returns what kubectl completes the last argument with. It builds no control plane for that.
func (a *app) completeKubectl(ctx context.Context, args []string) ([]string, cobra.ShellCompDirective) {
	if a.enterDirectory() != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	options := a.controlPlaneOptions(controlplane.Kubectl)
	options.NoBuild = true
	assets, err := controlplane.EnsureBuilt(ctx, options)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	environ, err := local.KubectlEnviron(ctx, a.StateDirs(), a.ProjectRoot, a.Environ, args)
	if err != nil {
		environ = a.Environ
	}
	return completeWith(ctx, a.Env, Command{Dir: a.Dir, Environ: environ, Name: assets.Path(controlplane.Kubectl)}, args)
}

// completeWith returns what a program that uses cobra completes the last argument with.
func completeWith(ctx context.Context, e *Env, program Command, args []string) ([]string, cobra.ShellCompDirective) {
	var out bytes.Buffer
	program.Out, program.Args = &out, append([]string{cobra.ShellCompRequestCmd}, args...)
	err := e.Run(ctx, program)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	last := len(lines) - 1
	directive, parseErr := strconv.Atoi(strings.TrimPrefix(lines[last], ":"))
	if err != nil || parseErr != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return lines[:last], cobra.ShellCompDirective(directive)
}
