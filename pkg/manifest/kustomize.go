// Package manifest reads and writes Kubernetes manifests and builds kustomizations. Decode reads the Objects of a file, Build builds
// a kustomization, and Kustomize runs the kustomize command line in-process.
package manifest

import (
	"context"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/build"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/create"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/edit"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/localize"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/openapi"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// kustomizeVersion is the version of the built-in kustomize.
const kustomizeVersion = "v5.8.1"

// KustomizationFiles returns the names of kustomizations, in the order of precedence.
func KustomizationFiles() []string { return konfig.RecognizedKustomizationFileNames() }

// IsKustomization reports whether a file is a kustomization, by its name.
func IsKustomization(file string) bool {
	return slices.Contains(KustomizationFiles(), filepath.Base(file))
}

// Build is Remote.Build for a kustomization that must not refer to other machines. It never waits.
func Build(dir, path string) ([]byte, error) {
	return RefuseRemote.Build(context.Background(), dir, path, nil)
}

// Build builds a kustomization like kustomize build and returns the objects as a stream of YAML documents. Its path is relative to
// dir or absolute. files replace files of dir: contents by slash-separated name, or nil to remove a file. The error is a *RemoteError
// if a reference to another machine is refused.
func (r Remote) Build(ctx context.Context, dir, path string, files map[string][]byte) ([]byte, error) {
	over := newOverlayFS(dir, files)
	over.remote = r
	return buildOn(ctx, over, over, path)
}

// buildOn builds a kustomization on a file system that reads from an overlay.
func buildOn(ctx context.Context, over *overlayFS, fsys filesys.FileSystem, path string) (out []byte, err error) {
	if over.remote == RefuseRemote {
		return buildNow(over, fsys, path)
	}
	err = waitFor(ctx, func() error {
		var err error
		out, err = buildNow(over, fsys, path)
		return err
	})
	if ctx.Err() != nil {
		return nil, ctx.Err() // out may still be written
	}
	return out, err
}

// waitFor runs a function that ignores contexts, as kustomize does while it waits for another machine. It returns when the context
// ends; the function continues until the process ends.
func waitFor(ctx context.Context, run func() error) error {
	done := make(chan error, 1)
	go func() { done <- run() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func buildNow(over *overlayFS, fsys filesys.FileSystem, path string) ([]byte, error) {
	shortenSchema()
	options := krusty.MakeDefaultOptions()
	// As in the kustomize command, namespaces and CRDs are first unless the kustomization has another order.
	options.Reorder = krusty.ReorderOptionUnspecified
	if over.loose {
		options.LoadRestrictions = types.LoadRestrictionsNone
	}
	resources, err := krusty.MakeKustomizer(options).Run(fsys, path)
	if over.refused != nil {
		return nil, over.refused
	}
	if err != nil {
		if missing := missingIn(over, path); len(missing) > 0 {
			return nil, missing
		}
		return nil, fmt.Errorf("building the kustomization %s: %w", path, relativeTo(over.dir, err))
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

// relativeTo returns an error with paths relative to dir.
func relativeTo(dir string, err error) error {
	return &relativeError{strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""), err}
}

// SetImage replaces an image in the kustomization of a directory like kustomize edit set image NAME=REF. It returns the name of the
// file, relative to dir, and its new content. files are as in BuildOver.
func SetImage(ctx context.Context, dir, subdir, name, ref string, files map[string][]byte) (file string, content []byte, err error) {
	fsys := newOverlayFS(filepath.Join(dir, filepath.FromSlash(subdir)), map[string][]byte{})
	for overlaid, data := range files {
		if rest, ok := strings.CutPrefix(overlaid, path.Clean(subdir)+"/"); ok {
			fsys.files[rest] = data
		}
	}
	for _, file = range KustomizationFiles() {
		if fsys.Exists(file) {
			break
		}
	}
	deps := provider.NewDefaultDepProvider()
	c := edit.NewCmdEdit(fsys, deps.GetFieldValidator(), deps.GetResourceFactory(), io.Discard)
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs([]string{"set", "image", name + "=" + ref})
	if err := c.ExecuteContext(ctx); err != nil {
		return "", nil, fmt.Errorf("setting the image %s in %s: %w", name, subdir, relativeTo(dir, err))
	}
	content, err = fsys.ReadFile(file)
	return path.Join(subdir, file), content, err
}

// Kustomize runs the kustomize command line in this process: build, edit, create, localize, openapi and version with their flags.
// Paths are relative to dir. References to other machines are decided about by remote, in arguments and in kustomizations.
func Kustomize(ctx context.Context, remote Remote, dir string, args []string, out, errOut io.Writer) error {
	shortenSchema()
	fsys := newRootedFS(dir)
	fsys.remote = remote
	if err := remote.checkArguments(args); err != nil {
		return err
	}
	deps := provider.NewDefaultDepProvider()
	buildCommand := build.NewCmdBuild(fsys, build.MakeHelp(konfig.ProgramName, "build"), out)
	build.AddFunctionAlphaEnablementFlags(buildCommand.Flags())
	root := &cobra.Command{
		Use:           konfig.ProgramName,
		Short:         "Compose Kubernetes manifests (kustomize " + kustomizeVersion + ")",
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
				_, err := fmt.Fprintln(out, kustomizeVersion)
				return err
			},
		},
	)
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	err := waitFor(ctx, func() error { return root.ExecuteContext(ctx) })
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if fsys.refused != nil {
		return fsys.refused
	}
	if err != nil && len(args) > 0 && args[0] == buildCommand.Name() {
		if missing := missingIn(newOverlayFS(dir, nil), filepath.Clean(buildCommand.Flags().Arg(0))); len(missing) > 0 {
			return missing
		}
	}
	return err
}
