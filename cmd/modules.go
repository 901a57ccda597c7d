package cmd

import (
	"context"
	"io"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// addOffline adds --offline to a command that downloads modules.
func (a *app) addOffline(f *pflag.FlagSet) {
	f.BoolVar(&a.offline, "offline", false, "use only the module cache, and fail if modules are missing")
}

// allowRemoteVariable is the environment variable that sets the default of --allow-remote-resources.
const allowRemoteVariable = "OPERON_ALLOW_REMOTE_RESOURCES"

// addAllowRemote adds --allow-remote-resources to a command that builds kustomizations of the project.
func (a *app) addAllowRemote(f *pflag.FlagSet) {
	allowed, _ := strconv.ParseBool(a.Getenv(allowRemoteVariable))
	f.BoolVar(&a.allowRemote, "allow-remote-resources", allowed, "let kustomizations load files and repositories from other machines, by HTTPS or SSH")
}

// remote decides about references of kustomizations to other machines.
func (a *app) remote() manifest.Remote {
	if a.allowRemote && !a.offline {
		return manifest.AllowRemote
	}
	return manifest.RefuseRemote
}

// goTool runs the go command with the modules that --offline and the environment allow.
func (a *app) goTool() gotool.Go {
	return gotool.Go{Offline: a.offline, Progress: a.print.ProgressWriter(), Start: func(ctx context.Context, dir string, variables []string, out, errOut io.Writer, args ...string) error {
		return a.print.Slow(gotool.Step(args), func() error { return a.RunGo(ctx, dir, variables, out, errOut, args...) })
	}}
}

// charts returns how commands fetch and render charts.
func (a *app) charts() helmchart.Runtime {
	return helmchart.Runtime{
		Version: buildVersion().Version,
		Build:   a.RuntimeBuild,
		Run: func(ctx context.Context, description string, in io.Reader, out, errOut io.Writer, args ...string) error {
			program, err := a.RuntimeProgram()
			if err != nil {
				return err
			}
			return a.print.Slow(description, func() error {
				return a.Run(ctx, Command{Dir: a.Dir, Environ: a.Environ, In: in, Out: out, Err: errOut, Name: program, Args: args, Tied: true})
			})
		},
	}
}
