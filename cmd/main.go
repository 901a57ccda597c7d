// Package cmd is Operon's command line: one file per command, with its flags, the call that does the work, and what it prints. The
// packages below internal contain what commands share.
package cmd

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/scorecard"
	"github.com/operon-sdk/operon/pkg/tempdir"
)

// The exit codes of all commands.
const (
	exitOK     = 0
	exitFailed = 1 // the command failed
	exitUsage  = 2 // the command line is invalid
)

// Main runs the command in args, where args[0] is the program, and returns its exit code.
func Main(ctx context.Context, environment *Env, args []string) int {
	arguments := args[min(1, len(args)):]
	own := *environment // -C changes it
	a := newApp(&own, programName(args))
	a.interrupted, a.called, a.args = ctx.Done(), calledName(args), arguments
	a.line = strings.Join(append([]string{a.program}, arguments...), " ")
	if assets, ours := controlplane.IsAPIServer(a.Getenv, arguments); ours {
		return a.report(a.runAPIServer(ctx, assets))
	}
	tempdir.Sweep(a.Getenv("TMPDIR"))
	root := newRoot(a)
	if slices.Contains([]string{scorecard.Program, helmOperator, ansibleOperator}, a.called) {
		arguments = append([]string{a.called}, arguments...) // the program's name in test images and in operators' images
	}
	root.SetArgs(arguments)
	called, err := root.ExecuteContextC(ctx)
	if called == root && !is[*usageError](err) && (is[*pflag.InvalidValueError](err) || is[*pflag.NotExistError](err) || is[*pflag.ValueRequiredError](err)) {
		// Flags before the name of a command are parsed without the root's own error function.
		err = a.flagError(root, err)
	}
	if err == nil {
		err = a.helpError
	}
	if errors.Is(err, context.Canceled) {
		err = errInterrupted
	}
	code := a.report(err)
	if err := a.print.Finish(err); err != nil {
		return a.report(err)
	}
	return code
}

// calledName returns the base name of the program as it was called, without .exe.
func calledName(args []string) string {
	if len(args) == 0 {
		return ""
	}
	// Paths on Windows have either separator.
	return strings.TrimSuffix(filepath.Base(strings.ReplaceAll(args[0], `\`, "/")), ".exe")
}

// programName returns the name of the program in help and hints: the name of a link operator-sdk, if it was called through
// one.
func programName(args []string) string {
	if name := calledName(args); name == "operator-sdk" {
		return name
	}
	return "operon"
}
