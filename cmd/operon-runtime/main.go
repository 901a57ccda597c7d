// Program operon-runtime runs operators that are written without Go code, and reads Helm charts for operon. It is a program
// of its own because the libraries of Helm and of controller managers would double the start-up time of operon.
//
// Called through a link named helm-operator or ansible-operator, it answers as operator-sdk's program of that name.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/helmchart"
)

// The exit codes of all commands.
const (
	exitOK     = 0
	exitFailed = 1 // the command failed
	exitUsage  = 2 // the command line is invalid
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, streams{os.Stdin, os.Stdout, os.Stderr, os.Environ()}, os.Args)
	stop()
	os.Exit(code)
}

// streams are the standard streams of the program, and its environment as KEY=VALUE.
type streams struct {
	in       io.Reader
	out, err io.Writer
	environ  []string
}

// getenv returns the value of an environment variable, or "".
func (s streams) getenv(name string) string {
	for _, entry := range slices.Backward(s.environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// run runs the command in args, where args[0] is the program, and returns its exit code.
func run(ctx context.Context, s streams, args []string) int {
	root := newRoot(s, calledName(args))
	root.SetArgs(args[min(1, len(args)):])
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(s.err, "error: %v\n", err)
		if isUsage(err) {
			return exitUsage
		}
		if _, ok := errors.AsType[*helmchart.ProtocolError](err); ok {
			return helmchart.ExitProtocol
		}
		return exitFailed
	}
	return exitOK
}

// newRoot returns the commands of the program for the name that it is called by.
func newRoot(s streams, name string) *cobra.Command {
	var root *cobra.Command
	switch name {
	case helmOperator:
		root = newHelmOperator(s)
	case ansibleOperator:
		root = newAnsibleOperator(s)
	default:
		root = &cobra.Command{
			Use:   helmchart.Program,
			Short: "Run operators that are written without Go code",
			RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
			Args:  noArgs,
		}
		root.AddCommand(newHelmOperator(s), newAnsibleOperator(s), newChart(s), newVersion(s, helmchart.Program))
	}
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	return root
}

// calledName returns the base name of the program as it was called, without .exe.
func calledName(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return strings.TrimSuffix(filepath.Base(args[0]), ".exe")
}
