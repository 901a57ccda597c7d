package cmd

import (
	"context"
	"io"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
)

// intactProject is ProjectRoot for commands that only read the project. It fails if an interrupted command left partial changes.
func (a *app) intactProject() (string, error) {
	root, err := a.ProjectRoot()
	if err != nil {
		return "", err
	}
	return root, a.at(root).Unfinished()
}

// actions returns the configuration of pkg/action.
func (a *app) actions() action.Config {
	at, _, _ := a.SourceDate() // commands that depend on it validate it
	return action.Config{
		FS: a.FS, Dir: a.Dir, Environ: a.Environ, GOPATH: a.GOPATH(), Year: a.Year(), SourceDate: at, Program: a.program, Version: buildVersion().Version, Go: a.goTool(),
		Build: a.Build, CacheDir: a.Cache(), StateDirs: a.StateDirs(), Remote: a.remote(), DryRun: a.dryRun, Command: a.line, LockTimeout: a.lockTimeout, Now: a.Now,
		Charts: a.charts(), Layouts: a.layouts(),
		Report: a.print.Findings, Step: a.print.Counting,
	}
}

// runInProject runs a command in the project that the working directory is in, and prints its result.
func (a *app) runInProject(ctx context.Context, run func(*action.Project) (*action.Result, error)) error {
	return a.runInRoot(ctx, a.actions(), func(p *action.Project) error { return a.print.Outcome(run(p)) })
}

// runInRoot is runAt for the project that the working directory is in.
func (a *app) runInRoot(ctx context.Context, config action.Config, run func(*action.Project) error) error {
	root, err := a.ProjectRoot()
	if err != nil {
		return err
	}
	return a.runAt(ctx, config, root, run)
}

// runAt runs a command in a directory, which is locked until the command ends.
func (a *app) runAt(ctx context.Context, config action.Config, root string, run func(*action.Project) error) error {
	p, err := action.Open(ctx, config, root)
	if err != nil {
		return a.print.Outcome(nil, err)
	}
	defer p.Close()
	return run(p)
}

// readProject reads PROJECT for a command that writes nothing.
func (a *app) readProject(layouts action.Layouts) (*project.Config, error) {
	root, err := a.intactProject()
	if err != nil {
		return nil, err
	}
	return a.at(root).Load(layouts)
}

// at returns the project at root for a command that writes nothing.
func (a *app) at(root string) *action.Project { return action.Read(a.actions(), root) }

// remote decides about references of kustomizations to other machines.
func (a *app) remote() manifest.Remote {
	if a.allowRemote && !a.offline {
		return manifest.AllowRemote
	}
	return manifest.RefuseRemote
}

// goTool runs the go command with the modules that --offline and the environment allow.
func (a *app) goTool() gotool.Go {
	return gotool.Go{Offline: a.offline, Progress: a.print.ProgressWriter(), Counting: a.print.Counting, Start: a.RunGo}
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
