package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A usageError is an invalid command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// isUsage reports whether err was caused by the command line.
func isUsage(err error) bool {
	_, ok := errors.AsType[usageError](err)
	return ok
}

// noArgs rejects arguments, and thereby unknown commands.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageError{fmt.Errorf("unknown command or argument %q for %q; see '%[2]s --help'", args[0], c.CommandPath())}
}

// flagError returns a usage error, with the nearest flag for an unknown one.
func flagError(c *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near, ok := diag.Nearest(unknown.GetSpecifiedName(), names); ok {
			return usageError{fmt.Errorf("unknown flag --%s; did you mean --%s?", unknown.GetSpecifiedName(), near)}
		}
	}
	return usageError{err}
}
