package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
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
