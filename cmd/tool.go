package cmd

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/gokinds"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
)

func newTool(a *app) *cobra.Command {
	c := a.commandGroup("tool", "Run controller-gen, kustomize, setup-envtest or kubectl", "  %s tool kustomize build config/default",
		a.tool("controller-gen", "Generate code and manifests from markers",
			`object:headerFile="hack/boilerplate.go.txt" paths="./..."`,
			func(c *cobra.Command, dir string, args []string) error {
				root, err := a.intactProject()
				if err != nil && !errors.Is(err, project.ErrNotAProject) {
					return err
				}
				done := false
				if root == dir {
					err = a.runAt(c.Context(), a.actions(), root, func(p *action.Project) (err error) {
						done, err = gokinds.ControllerGen(c.Context(), p, args)
						return err
					})
				}
				if done || err != nil && !errors.Is(err, project.ErrNotAProject) {
					return err
				}
				return codegen.ControllerGen(c.Context(), args, a.Out, a.print.Text(), dir, a.Environ)
			}),
		a.tool("kustomize", "Build and edit kustomizations", "build config/default",
			func(c *cobra.Command, dir string, args []string) error {
				if err := a.checkIntact(); err != nil {
					return err
				}
				remote := manifest.AllowRemote
				if i := slices.Index(args, "--offline"); i >= 0 {
					args, remote = slices.Delete(args, i, i+1), manifest.RefuseRemote
				}
				return manifest.Kustomize(c.Context(), remote, dir, args, a.Out, a.print.Text())
			}),
		a.tool("setup-envtest", "Install the API server and etcd for tests", "use 1.36 -p path",
			func(c *cobra.Command, dir string, args []string) error {
				return controlplane.SetupEnvtest(c.Context(), args, controlplane.SetupEnvtestOptions{ // builds from source if nothing can be downloaded
					Name: c.CommandPath(), In: a.In, Out: a.Out, Err: a.print.Text(), Getenv: a.Getenv, Dir: dir, Ensure: a.controlPlaneOptions(),
				})
			}),
		newToolKubectl(a),
	)
	c.Long = `Run controller-gen, kustomize or setup-envtest, which are part of this program, with their own
arguments and flags. Generated Makefiles call them this way and download nothing.

kubectl is part of the control plane that 'run local' builds, and uses that control plane.`
	return c
}

// tool returns the command of a tool that parses its own arguments.
func (a *app) tool(name, short, example string, run func(c *cobra.Command, dir string, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use:                name + " [ARGUMENT]...",
		Short:              short,
		Example:            fmt.Sprintf("  %s tool %s %s", a.program, name, example),
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			dir := a.Dir
			return run(c, dir, args)
		},
	}
}

// checkIntact returns an error in a project that an interrupted command changed partially, so that no Makefile builds it.
func (a *app) checkIntact() error {
	if _, err := a.intactProject(); !errors.Is(err, project.ErrNotAProject) {
		return err
	}
	return nil
}

// controlPlaneOptions returns the options to find or build programs of a control plane; without any, the programs for tests.
func (a *app) controlPlaneOptions(parts ...string) controlplane.EnsureOptions {
	o := controlplane.DefaultOptions(a.Environ)
	o.Parts, o.Progress, o.HTTP = parts, a.print.Progress, a.HTTP
	return o
}
