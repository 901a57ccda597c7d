package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/project"
)

func newImage(a *app) *cobra.Command {
	return a.commandGroup("image", "Build, push and copy images without Docker",
		`  %[1]s image build --image registry.example.com/memcached-operator:v0.0.1 --push
  %[1]s image bundle --image registry.example.com/memcached-operator-bundle:v0.0.1 --push`, newImageBuild(a), newImageBundle(a), newImageCatalog(a), newImageSave(a), newImageLoad(a))
}

// targetOptions are the flags for the destination of an image.
type targetOptions struct {
	image, tarball, layout string
	push                   bool
	platforms              []string
	registryOptions
}

func (o *targetOptions) addTo(f *pflag.FlagSet) {
	f.StringVar(&o.image, "image", "", "`name` of the image, as registry/name:tag")
	f.BoolVar(&o.push, "push", false, "push the image to the registry in its name")
	f.StringVar(&o.tarball, "tarball", "", "write the image to this `file`, for docker load, podman load and image load")
	f.StringVar(&o.layout, "oci-layout", "", "write the image to this `directory`, as an OCI layout")
	o.registryOptions.addTo(f)
}

// check validates the flags.
func (o *targetOptions) check() (findings diag.Findings) {
	findings = o.registryOptions.check()
	if o.push && o.image == "" {
		findings.Add("--image", "", "is required with --push")
	}
	if o.image != "" {
		findings = append(findings, checkNewImage("--image", o.image)...)
	}
	if !o.push && o.tarball == "" && o.layout == "" {
		findings.Add("--push, --tarball FILE or --oci-layout DIR", "", "is required")
	}
	return findings
}

// checkNewImage validates the name of an image to write.
func checkNewImage(flag, ref string) diag.Findings {
	if findings := project.CheckImage(flag, ref); len(findings) > 0 {
		return findings
	}
	if err := image.CheckName(ref); err != nil {
		return diag.Findings{{Field: flag, Value: ref, Problem: err.Error()}}
	}
	return nil
}

// checkSourceImage validates the name of an image to read, unless it is a file or directory.
func (a *app) checkSourceImage(flag, dir, ref string) diag.Findings {
	if remote := (image.Options{FS: a.FS, Dir: dir}).Remote(ref); remote != "" {
		return project.CheckImage(flag, remote)
	}
	return nil
}

// checkTarget returns an error if an image cannot be written or pushed to its destination, before it is built.
func (a *app) checkTarget(ctx context.Context, dir string, o *targetOptions) error {
	if o.layout != "" {
		if err := image.CheckLayout(a.FS, env.Absolute(dir, o.layout)); err != nil {
			return fmt.Errorf("--oci-layout %s: %w", o.layout, err)
		}
	}
	if o.push {
		return a.registries(o.registryOptions).CheckPush(ctx, o.image)
	}
	return nil
}

// buildFiles builds an image with a layer of files for each platform, and writes it to its destination. The content is a
// bundle or a catalog.
func (a *app) buildFiles(ctx context.Context, dir, content string, recipe image.Recipe, files []image.File, o *targetOptions) error {
	layer, err := image.NewLayer("the "+content, files, recipe.Created)
	if err != nil {
		return fmt.Errorf("the %s: %w", content, err)
	}
	if a.dryRun {
		a.print.Progressf("would build an image of %s", diag.Count(len(files), "file"))
		return nil
	}
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	recipe.Author = "operon image " + content
	for _, platform := range o.platforms {
		recipe.Parts = append(recipe.Parts, image.Part{Platform: platform, Layers: []*image.Layer{layer}})
	}
	return a.buildImage(ctx, dir, recipe, o)
}

// buildImage builds an image and writes it to its destination.
func (a *app) buildImage(ctx context.Context, dir string, recipe image.Recipe, o *targetOptions) error {
	var img *image.Image
	err := a.print.Slow("reading the base and packing the layers", func() (err error) {
		img, err = a.imageOptions(dir, o.registryOptions).Build(ctx, recipe)
		return err
	})
	if err == nil {
		err = a.writeImage(ctx, dir, img, o)
	}
	return interrupted(ctx, err)
}

// writeImage writes and pushes an image to its destination.
func (a *app) writeImage(ctx context.Context, dir string, img *image.Image, o *targetOptions) error {
	img.Name = o.image
	digest, err := img.Digest()
	if err != nil {
		return err
	}
	if err := a.writeImages(ctx, dir, []*image.Image{img}, o, digest); err != nil {
		return err
	}
	if o.push {
		return a.pushImage(ctx, img, o.image, a.registries(o.registryOptions))
	}
	return nil
}

// writeImages writes images to a tarball and an OCI layout, if given.
func (a *app) writeImages(ctx context.Context, dir string, images []*image.Image, o *targetOptions, what string) error {
	for _, to := range []struct {
		flag, path string
		write      func(context.Context, afero.Fs, string, []*image.Image) error
	}{{"--oci-layout", o.layout, image.WriteLayout}, {"--tarball", o.tarball, image.WriteTarball}} {
		if to.path == "" {
			continue
		}
		err := a.print.Slow("writing "+filepath.ToSlash(to.path), func() error {
			return to.write(ctx, a.FS, env.Absolute(dir, to.path), images)
		})
		if err != nil {
			return fmt.Errorf("%s %s: %w", to.flag, to.path, diag.Cause(err))
		}
		if err := a.printWritten("wrote", filepath.ToSlash(to.path), what); err != nil {
			return err
		}
	}
	return nil
}

// pushImage pushes an image. At a terminal it prints the progress.
func (a *app) pushImage(ctx context.Context, img *image.Image, ref string, registries image.Registries) error {
	var progress func(done, all int64)
	if a.ErrTerminal && !a.print.Quiet {
		last := int64(-1)
		progress = func(done, all int64) {
			if percent := done * 100 / max(all, 1); percent != last {
				last = percent
				fmt.Fprintf(a.Err, "\r\x1b[Kpushing %s: %d%% of %.1f MB", ref, percent, float64(all)/1e6)
			}
		}
		defer fmt.Fprint(a.Err, "\r\x1b[K")
	} else {
		a.print.Progressf("pushing %s", ref)
	}
	pushed, err := registries.Push(ctx, img, ref, progress)
	if err != nil {
		return err
	}
	return a.printWritten("pushed", pushed, "")
}

// printWritten prints the location of a written image.
func (a *app) printWritten(verb, location, digest string) error {
	if digest != "" {
		location += "  " + digest
	}
	_, err := fmt.Fprintf(a.print.TextOut(), "%-8s %s\n", verb, location)
	return err
}

// imageOptions returns the options for access to images.
func (a *app) imageOptions(dir string, o registryOptions) image.Options {
	return image.Options{Registries: a.registries(o), FS: a.FS, Dir: dir}
}

// addLabels adds flags of the form KEY=VALUE to the labels of an image.
func addLabels(given []string, labels map[string]string) (findings diag.Findings) {
	for _, pair := range given {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			findings.Add("--label", pair, "must be KEY=VALUE, such as org.opencontainers.image.version=1.2.3")
			continue
		}
		labels[key] = value
	}
	return findings
}

// interrupted replaces the error of an interrupted command with errInterrupted.
func interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return errInterrupted
	}
	return err
}
