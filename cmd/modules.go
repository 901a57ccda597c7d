package cmd

import (
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/gotool"
)

// addOffline adds --offline to a command that downloads modules.
func (a *app) addOffline(f *pflag.FlagSet) {
	f.BoolVar(&a.offline, "offline", false, "use only the module cache, and fail if modules are missing")
}

// goTool runs the go command with the modules that --offline and the environment allow.
func (a *app) goTool() gotool.Go {
	progress := a.progressWriter()
	return gotool.Go{Start: a.runGoReporting(progress), Offline: a.offline, Progress: progress}
}
