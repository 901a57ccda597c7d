package cmd

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
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

// vendor brings the vendor directory of a project that has one up to date with go.mod and the imports.
func (a *app) vendor(ctx context.Context, tree *worktree.Tree) error {
	stale, err := scaffold.VendorStale(tree)
	if err != nil || !stale {
		return err
	}
	a.progressf("updating the vendor directory")
	return a.goTool().Vendor(ctx, tree)
}
