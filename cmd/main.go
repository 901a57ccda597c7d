// Package cmd is Operon's command line: one file per command, with its flags, prompts, printing and
// exit codes. It is the only place that knows cobra and survey.
package cmd

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/scorecard"
)

// The exit codes of every command.
const (
	exitOK     = 0
	exitFailed = 1 // it could not be done
	exitUsage  = 2 // it was asked for wrongly
)

// Main runs the command that args name, args[0] being the program, and returns its exit code.
func Main(ctx context.Context, env *Env, args []string) int {
	a := &app{Env: env, program: programName(args)}
	a.line = strings.Join(append([]string{a.program}, args[min(1, len(args)):]...), " ")
	root := newRoot(a)
	arguments := args[min(1, len(args)):]
	if len(args) > 0 && path.Base(filepath.ToSlash(args[0])) == scorecard.Program {
		arguments = append([]string{scorecard.Program}, arguments...) // the name that tests call their program by
	}
	root.SetArgs(arguments)
	called, err := root.ExecuteContextC(ctx)
	if called == root && !is[*usageError](err) && (is[*pflag.InvalidValueError](err) || is[*pflag.NotExistError](err) || is[*pflag.ValueRequiredError](err)) {
		// Flags before the name of a command are parsed without the root's own error function.
		err = flagError(root, err)
	}
	return a.report(err)
}

// programName is what the user called the program by: through a link named operator-sdk, help and
// hints speak of operator-sdk.
func programName(args []string) string {
	if len(args) > 0 {
		// A path of Windows may come with either separator.
		base := filepath.Base(strings.ReplaceAll(args[0], `\`, "/"))
		if base = strings.TrimSuffix(base, ".exe"); base == "operator-sdk" {
			return base
		}
	}
	return "operon"
}
