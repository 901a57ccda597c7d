package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/images"
	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/project"
)

// imageBundleOptions are the flags of image bundle.
type imageBundleOptions struct {
	images.Target
	file string
}

func newImageBundle(a *app) *cobra.Command {
	var o imageBundleOptions
	c := &cobra.Command{
		Use:   "bundle",
		Short: "Build the bundle's image",
		Long: `Build the bundle image from bundle.Dockerfile, without Docker, and push it or write it to a file or
directory. FROM, LABEL and COPY are supported. The same bundle always gives the same digest. A
bundle contains no programs, so one platform is enough for all clusters; --platform is for
registries that require more.`,
		Example: fmt.Sprintf(`  %[1]s image bundle --image registry.example.com/memcached-operator-bundle:v0.0.1 --push

  # Validate the image before pushing it:
  %[1]s image bundle --oci-layout bin/bundle
  %[1]s bundle validate bin/bundle`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return o.Within(c, func() error { return a.runImageBundle(c.Context(), &o) })
		},
	}
	f := c.Flags()
	o.Target.AddTo(f)
	f.StringVarP(&o.file, "file", "f", "", "Dockerfile of the bundle, a `file` (default: "+bundle.DockerfileName+")")
	f.StringSliceVar(&o.Platforms, "platform", []string{"linux/amd64"}, "comma-separated `platforms` of the image")
	return c
}

func (a *app) runImageBundle(ctx context.Context, o *imageBundleOptions) error {
	findings := append(o.Target.Check(), images.CheckPlatforms(o.Platforms)...)
	if len(findings) > 0 {
		return findings
	}
	at, err := a.ImageTime()
	if err != nil {
		return err
	}
	file, given := a.Absolute(o.file), o.file != ""
	if !given {
		root, err := a.intactProject()
		if errors.Is(err, project.ErrNotAProject) {
			root, err = a.Dir, nil // a repository of bundles needs no project
		}
		if err != nil {
			return err
		}
		file, o.file = filepath.Join(root, bundle.DockerfileName), bundle.DockerfileName
	}
	text, err := afero.ReadFile(a.FS, file)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: no such file; '%s bundle' writes it with the bundle", o.file, a.program)
		if given {
			return diag.Usage(err)
		}
		return err
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", o.file, diag.Cause(err))
	}
	recipe, problems := bundle.ParseDockerfile(filepath.ToSlash(o.file), text)
	var files []image.File
	for _, c := range recipe.Copies {
		found, invalid := image.ReadFiles(a.FS, filepath.Dir(file), c.From, c.To, c.Position)
		files, problems = append(files, found...), append(problems, invalid...)
	}
	if len(problems) > 0 {
		return problems
	}
	result := image.Recipe{Base: recipe.From, Labels: recipe.Labels, Created: at}
	return o.BuildFiles(ctx, a.print, "bundle", result, files, a.dryRun)
}
