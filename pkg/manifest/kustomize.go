// Package manifest reads and builds Kubernetes manifests.
package manifest

import (
	"context"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/build"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/create"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/edit"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/localize"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/openapi"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// KustomizeVersion is the kustomize that this program contains.
const KustomizeVersion = "v5.8.1"

// Build renders the kustomization in a folder, relative to dir or absolute, as kustomize build does,
// and returns the objects as a stream of YAML documents.
func Build(dir, folder string) ([]byte, error) {
	return BuildOver(dir, folder, nil)
}

// BuildOver does so with files laid over those of dir: contents by slash-separated name, nil for a file that
// is taken away.
func BuildOver(dir, folder string, files map[string][]byte) ([]byte, error) {
	over := newOverlayFS(dir, files)
	return buildOn(over, over, folder)
}

// buildOn builds a kustomization on a file system that reads from an overlay.
func buildOn(over *overlayFS, fsys filesys.FileSystem, folder string) ([]byte, error) {
	shortenSchema()
	options := krusty.MakeDefaultOptions()
	// As on kustomize's command line: namespaces and CRDs first, unless the kustomization orders otherwise.
	options.Reorder = krusty.ReorderOptionUnspecified
	resources, err := krusty.MakeKustomizer(options).Run(fsys, folder)
	if over.refused != nil {
		return nil, over.refused
	}
	if err != nil {
		return nil, fmt.Errorf("building the kustomization %s: %w", folder, relativeTo(over.dir, err))
	}
	return resources.AsYaml()
}

// A relativeError is an error whose text names files relative to a directory.
type relativeError struct {
	text string
	err  error
}

func (e *relativeError) Error() string { return e.text }
func (e *relativeError) Unwrap() error { return e.err }

func relativeTo(dir string, err error) error {
	return &relativeError{strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""), err}
}

// SetImage exchanges an image in the kustomization of a folder, as kustomize edit set image NAME=REF does there.
// It gives the name of the kustomization, relative to dir, with its new content. Files are as in BuildOver.
func SetImage(ctx context.Context, dir, folder, name, ref string, files map[string][]byte) (file string, content []byte, err error) {
	fsys := newOverlayFS(filepath.Join(dir, filepath.FromSlash(folder)), map[string][]byte{})
	for overlaid, data := range files {
		if rest, ok := strings.CutPrefix(overlaid, path.Clean(folder)+"/"); ok {
			fsys.files[rest] = data
		}
	}
	for _, file = range konfig.RecognizedKustomizationFileNames() {
		if fsys.Exists(file) {
			break
		}
	}
	deps := provider.NewDefaultDepProvider()
	c := edit.NewCmdEdit(fsys, deps.GetFieldValidator(), deps.GetResourceFactory(), io.Discard)
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs([]string{"set", "image", name + "=" + ref})
	if err := c.ExecuteContext(ctx); err != nil {
		return "", nil, fmt.Errorf("setting the image %s in %s: %w", name, folder, relativeTo(dir, err))
	}
	content, err = fsys.ReadFile(file)
	return path.Join(folder, file), content, err
}

// Kustomize runs the kustomize command line in this process: build, edit, create, localize, openapi
// and version, with kustomize's own flags. Relative paths are taken from dir.
func Kustomize(ctx context.Context, dir string, args []string, out, errOut io.Writer) error {
	shortenSchema()
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
	if err := root.ExecuteContext(ctx); fsys.refused == nil {
		return err
	}
	return fsys.refused
}
