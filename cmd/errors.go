package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/words"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/diag"
)

// A usageError is an error in the command line that the help of a command explains. The exit code is 2.
type usageError struct {
	err error
	// command is the command whose help to suggest, such as "operon create api".
	command string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// UsageError implements the interface that diag.IsUsage looks for.
func (e *usageError) UsageError() bool { return true }

// usagef returns a usageError that suggests the help of c.
func usagef(c *cobra.Command, format string, args ...any) error {
	return &usageError{err: fmt.Errorf(format, args...), command: c.CommandPath()}
}

// report prints an error once, on stderr, and returns its exit code.
func (a *app) report(err error) int {
	if err == nil {
		return exitOK
	}
	if errors.Is(err, codegen.ErrControllerGen) {
		return exitFailed // controller-gen has printed the error
	}
	code, hint := exitFailed, ""
	if diag.IsUsage(err) {
		code = exitUsage
	}
	if usage, ok := errors.AsType[*usageError](err); ok {
		hint = fmt.Sprintf("run '%s --help' for the flags and examples", usage.command)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, errInterrupted) {
		code, hint = exitFailed, "" // also for a usageError that wraps it
	}
	if exit, ok := errors.AsType[*controlplane.ExitError](err); ok {
		code = exit.Code
		if exit.Err == nil {
			return code
		}
	}
	a.print.Error(err)
	if hint != "" {
		fmt.Fprintln(a.print.Text(), hint)
	}
	if len(a.answered) > 0 {
		fmt.Fprintf(a.print.Text(), "the command with your answers: %s\n", words.Join(slices.Concat([]string{a.program}, a.args, a.answered)))
	}
	return code
}

// is reports whether the tree of err contains an error of type E.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// noArgs rejects positional arguments, which the peers ignore silently.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.HasAvailableSubCommands() {
		return unknownCommand(c, args[0])
	}
	return usagef(c, "%s takes no arguments, but got %q", c.CommandPath(), strings.Join(args, " "))
}

// unknownCommand returns the error for an unknown subcommand, with the nearest one.
func unknownCommand(c *cobra.Command, name string) error {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			names = append(names, sub.Name())
		}
	}
	if near, ok := diag.Nearest(name, names); ok {
		return usagef(c, "unknown command %q for %q; did you mean %q?", name, c.CommandPath(), near)
	}
	return usagef(c, "unknown command %q for %q; it has: %s", name, c.CommandPath(), strings.Join(names, ", "))
}
