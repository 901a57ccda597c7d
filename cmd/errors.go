package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/codegen/calls"
	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

// usageError is a wrong call: exit code 2.
type usageError struct {
	err error
	// command is how to ask for help, such as "operon create api"; empty leaves the hint out.
	command string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// errStale ends a --check whose differences are on stdout already.
var errStale = errors.New("generated files are stale")

// usagef makes a usageError about a command.
func usagef(c *cobra.Command, format string, args ...any) error {
	return &usageError{err: fmt.Errorf(format, args...), command: c.CommandPath()}
}

// report prints an error once, on stderr, and gives the exit code that it stands for.
func (a *app) report(err error) int {
	if err == nil {
		return exitOK
	}
	if errors.Is(err, codegen.ErrControllerGen) {
		return exitFailed // it has said why
	}
	code, hint := exitFailed, ""
	if usage, ok := errors.AsType[*usageError](err); ok {
		code = exitUsage
		if usage.command != "" {
			hint = fmt.Sprintf("run '%s --help' for the flags and examples", usage.command)
		}
	}
	if badInput(err) {
		code = exitUsage
	}
	if is[*safeyaml.Error](err) {
		code = exitFailed
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, errInterrupted) {
		code, hint = exitFailed, "" // whatever the interruption is wrapped in
	}
	if err == context.Canceled {
		err = errInterrupted
	}
	if exit, ok := errors.AsType[*controlplane.ExitError](err); ok {
		code = exit.Code
		if exit.Err == nil {
			return code
		}
	}
	fmt.Fprintf(a.Err, "%s %s\n", a.red("error:"), strings.TrimRight(err.Error(), "\n"))
	if hint != "" {
		fmt.Fprintln(a.Err, hint)
	}
	return code
}

// badInput tells an error about names, flags and the project's own files from one of the world around
// them: a folder that cannot be written, a full disk, a missing go command, another command at work.
func badInput(err error) bool {
	if errors.Is(err, codegen.ErrModulesMissing) || errors.Is(err, codegen.ErrGoMissing) {
		return false
	}
	return is[base.Conflicts](err) || errors.Is(err, project.ErrNotAProject) || is[*calls.ConfigError](err) ||
		is[project.Findings](err) || is[*project.ParseError](err) || is[*project.LayoutError](err) ||
		is[manifest.Problems](err) || is[bundle.Conflicts](err) || is[codegen.Findings](err) || is[*scaffold.ConflictError](err) || is[*scaffold.EditedError](err) || is[*scaffold.BlockedError](err) ||
		is[*scaffold.OutsideError](err) || is[*scaffold.MissingFileError](err) ||
		is[*scaffold.MissingMarkerError](err) || is[*scaffold.ContentError](err)
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// red colours a word on a terminal whose user has not asked for NO_COLOR.
func (a *app) red(s string) string {
	if !a.ErrTerminal || a.Getenv("NO_COLOR") != "" || a.Getenv("TERM") == "dumb" {
		return s
	}
	return "\x1b[31m" + s + "\x1b[0m"
}

// noArgs refuses positional arguments: the peers take them without a word.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.HasAvailableSubCommands() {
		return unknownCommand(c, args[0])
	}
	return usagef(c, "%s takes no arguments, but got %q", c.CommandPath(), strings.Join(args, " "))
}

// unknownCommand names the nearest sub-command.
func unknownCommand(c *cobra.Command, name string) error {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			names = append(names, sub.Name())
		}
	}
	if near, ok := project.Nearest(name, names); ok {
		return usagef(c, "unknown command %q for %q; did you mean %q?", name, c.CommandPath(), near)
	}
	return usagef(c, "unknown command %q for %q; it has: %s", name, c.CommandPath(), strings.Join(names, ", "))
}
