package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/project"
)

// imageBundleOptions are the flags of image bundle.
type imageBundleOptions struct {
	targetOptions
	file      string
	platforms []string
}

func newImageBundle(a *app) *cobra.Command {
	var o imageBundleOptions
	c := &cobra.Command{
		Use:   "bundle",
		Short: "Build the bundle's image",
		Long: `Build an image of the bundle from bundle.Dockerfile, without Docker, and push it or write it to a
file or directory. FROM, LABEL and COPY are supported. The same bundle gives the same digest. A
bundle contains no programs, so one platform suffices for all clusters; --platform is for registries
that require more.`,
		Example: fmt.Sprintf(`  %[1]s image bundle --image registry.example.com/memcached-operator-bundle:v0.0.1 --push

  # Validate the image before pushing it:
  %[1]s image bundle --oci-layout bin/bundle
  %[1]s bundle validate bin/bundle`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return o.within(c, func() error { return a.runImageBundle(c.Context(), &o) })
		},
	}
	f := c.Flags()
	o.targetOptions.addTo(f)
	f.StringVarP(&o.file, "file", "f", "", "Dockerfile of the bundle, a `file` (default: "+bundle.DockerfileName+")")
	f.StringSliceVar(&o.platforms, "platform", []string{"linux/amd64"}, "comma-separated `platforms` of the image")
	return c
}

func (a *app) runImageBundle(ctx context.Context, o *imageBundleOptions) error {
	dir, err := a.workDir()
	if err != nil {
		return err
	}
	findings := append(o.targetOptions.check(), checkPlatforms(o.platforms)...)
	if len(findings) > 0 {
		return findings
	}
	at, err := a.imageTime()
	if err != nil {
		return err
	}
	file, given := absolute(dir, o.file), o.file != ""
	if !given {
		root, err := a.intactProject()
		if errors.Is(err, project.ErrNotAProject) {
			root, err = dir, nil // a repository of bundles needs no project
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
			return &usageError{err: err}
		}
		return err
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", o.file, diag.Cause(err))
	}
	recipe, problems := bundle.ParseDockerfile(filepath.ToSlash(o.file), text)
	var files []image.File
	for _, c := range recipe.Copies {
		found, invalid := a.filesToCopy(filepath.Dir(file), c)
		files, problems = append(files, found...), append(problems, invalid...)
	}
	if len(problems) > 0 {
		return problems
	}
	layer, err := image.NewLayer("the bundle", files, at)
	if err != nil {
		return fmt.Errorf("the bundle: %w", err)
	}
	if a.dryRun {
		a.progressf("would build an image of %s", diag.Count(len(files), "file"))
		return nil
	}
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	result := image.Recipe{Base: recipe.From, Labels: recipe.Labels, Created: at, Author: "operon image bundle"}
	for _, platform := range o.platforms {
		result.Parts = append(result.Parts, image.Part{Platform: platform, Layers: []*image.Layer{layer}})
	}
	img, err := a.imageOptions(dir, o.registryOptions).Build(ctx, result)
	if err != nil {
		return interrupted(ctx, err)
	}
	return interrupted(ctx, a.writeImage(ctx, dir, img, &o.targetOptions))
}

// checkPlatforms validates the platforms of flags.
func checkPlatforms(platforms []string) (findings diag.Findings) {
	for i, p := range platforms {
		problem := ""
		if err := image.CheckPlatform(p); err != nil {
			problem = err.Error()
		} else if slices.Contains(platforms[:i], p) {
			problem = "is given twice"
		}
		if problem != "" {
			findings = append(findings, diag.Finding{Field: "--platform", Value: p, Problem: problem})
		}
	}
	return findings
}

// filesToCopy returns the files that a COPY line of a Dockerfile copies. Links are an error, as their targets may be outside of
// the directory.
func (a *app) filesToCopy(root string, c bundle.Copy) (files []image.File, problems diag.Findings) {
	start := filepath.Join(root, filepath.FromSlash(c.From))
	problem := func(at diag.Position, format string, args ...any) {
		problems = append(problems, diag.Finding{Position: at, Problem: fmt.Sprintf(format, args...)})
	}
	err := afero.Walk(a.FS, start, func(name string, info fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(start, name)
		if err != nil {
			return err
		}
		shown := diag.Position{File: path.Join(c.From, filepath.ToSlash(rel))}
		to := path.Join(c.To, filepath.ToSlash(rel))
		switch {
		case info.IsDir():
			files = append(files, image.File{Name: to + "/", Mode: 0o755})
		case !info.Mode().IsRegular():
			problem(shown, "is not a regular file; replace it with one")
		default:
			files = append(files, image.File{Name: to, Mode: 0o644, Size: info.Size(), Open: func() (io.ReadCloser, error) { return a.FS.Open(name) }})
		}
		return nil
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		problem(c.Position, "%s not found", c.From)
	case err != nil:
		problem(diag.Position{File: c.From}, "cannot read the file: %v", diag.Cause(err))
	case len(files) == 1 && !strings.HasSuffix(files[0].Name, "/"):
		files[0].Name = c.To // COPY gives the name of a single file
	}
	return files, problems
}
