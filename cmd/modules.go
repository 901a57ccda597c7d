package cmd

import (
	"io"

	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/gotool"
)

// addOffline adds --offline to a command that downloads modules.
func (a *app) addOffline(f *pflag.FlagSet) {
	f.BoolVar(&a.offline, "offline", false, "use modules of the module cache only, and fail if some are missing")
}

// goTool runs the go command with the modules that --offline and the environment allow.
func (a *app) goTool() gotool.Go {
	progress := a.Err
	if a.quiet {
		progress = io.Discard
	}
	return gotool.Go{Start: a.runGo, Offline: a.offline, Progress: progress}
}
