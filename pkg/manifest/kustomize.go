// Package manifest reads and builds Kubernetes manifests.
package manifest

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/build"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/create"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/edit"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/localize"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/openapi"
)

// KustomizeVersion is the kustomize that this program contains.
const KustomizeVersion = "v5.8.1"

// Build renders the kustomization in a folder, relative to dir or absolute, as kustomize build does,
// and returns the objects as a stream of YAML documents.
func Build(dir, folder string) ([]byte, error) {
	options := krusty.MakeDefaultOptions()
	// As on kustomize's command line: namespaces and CRDs first, unless the kustomization orders otherwise.
	options.Reorder = krusty.ReorderOptionUnspecified
	resources, err := krusty.MakeKustomizer(options).Run(newRootedFS(dir), folder)
	if err != nil {
		return nil, fmt.Errorf("building the kustomization %s: %w", folder, err)
	}
	return resources.AsYaml()
}

// Kustomize runs the kustomize command line in this process: build, edit, create, localize, openapi
// and version, with kustomize's own flags. Relative paths are taken from dir.
func Kustomize(ctx context.Context, dir string, args []string, out, errOut io.Writer) error {
	fsys := newRootedFS(dir)
	deps := provider.NewDefaultDepProvider()
	buildCommand := build.NewCmdBuild(fsys, build.MakeHelp(konfig.ProgramName, "build"), out)
	build.AddFunctionAlphaEnablementFlags(buildCommand.Flags())
	root := &cobra.Command{
		Use:           konfig.ProgramName,
		Short:         "Compose Kubernetes manifests (kustomize " + KustomizeVersion + ")",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(
		buildCommand,
		edit.NewCmdEdit(fsys, deps.GetFieldValidator(), deps.GetResourceFactory(), out),
		create.NewCmdCreate(fsys, deps.GetResourceFactory()),
		localize.NewCmdLocalize(fsys),
		openapi.NewCmdOpenAPI(out),
		&cobra.Command{
			Use:   "version",
			Short: "Print the version of kustomize",
			Args:  cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				_, err := fmt.Fprintln(out, KustomizeVersion)
				return err
			},
		},
	)
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	return root.ExecuteContext(ctx)
}
