package images

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/afero"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/project"
)

// Target contains the flags for the destination of an image.
type Target struct {
	Image, Tarball, Layout string
	Push                   bool
	Platforms              []string
	Registry
}

// AddTo adds the flags, but not --platform.
func (o *Target) AddTo(f *pflag.FlagSet) {
	f.StringVar(&o.Image, "image", "", "`name` of the image, as registry/name:tag")
	f.BoolVar(&o.Push, "push", false, "push the image to the registry in its name")
	f.StringVar(&o.Tarball, "tarball", "", "write the image to this `file`, for docker load, podman load and image load")
	f.StringVar(&o.Layout, "oci-layout", "", "write the image to this `directory`, as an OCI layout")
	o.Registry.AddTo(f)
}

// Check validates the flags.
func (o *Target) Check() (findings diag.Findings) {
	findings = o.Registry.Check()
	if o.Push && o.Image == "" {
		findings.Add("--image", "", "is required with --push")
	}
	if o.Image != "" {
		findings = append(findings, CheckNew("--image", o.Image)...)
	}
	if !o.Push && o.Tarball == "" && o.Layout == "" {
		findings.Add("--push, --tarball FILE or --oci-layout DIR", "", "is required")
	}
	return findings
}

// CheckNew validates the name of an image to write.
func CheckNew(flag, ref string) diag.Findings {
	if findings := project.CheckImage(flag, ref); len(findings) > 0 {
		return findings
	}
	if err := image.CheckName(ref); err != nil {
		return diag.Findings{{Field: flag, Value: ref, Problem: err.Error()}}
	}
	return nil
}

// CheckSource validates the name of an image to read, unless it is a file or directory.
func CheckSource(e *env.Env, flag, ref string) diag.Findings {
	if remote := (image.Options{FS: e.FS, Dir: e.Dir}).Remote(ref); remote != "" {
		return project.CheckImage(flag, remote)
	}
	return nil
}

// Reachable returns an error if an image cannot be written or pushed to its destination, before it is built.
func (o *Target) Reachable(ctx context.Context, p *output.Printer) error {
	if o.Layout != "" {
		if err := image.CheckLayout(p.FS, env.Absolute(p.Dir, o.Layout)); err != nil {
			return fmt.Errorf("--oci-layout %s: %w", o.Layout, err)
		}
	}
	if o.Push {
		return o.Access(p).CheckPush(ctx, o.Image)
	}
	return nil
}

// BuildFiles builds an image with a layer of files for each platform, and writes it to its destination. The content is a
// bundle or a catalog.
func (o *Target) BuildFiles(ctx context.Context, p *output.Printer, content string, recipe image.Recipe, files []image.File, dryRun bool) error {
	layer, err := image.NewLayer("the "+content, files, recipe.Created)
	if err != nil {
		return fmt.Errorf("the %s: %w", content, err)
	}
	if dryRun {
		p.Progressf("would build an image of %s", diag.Count(len(files), "file"))
		return nil
	}
	ctx, stop := env.UntilInterrupted(ctx)
	defer stop()
	recipe.Author = "operon image " + content
	for _, platform := range o.Platforms {
		recipe.Parts = append(recipe.Parts, image.Part{Platform: platform, Layers: []*image.Layer{layer}})
	}
	return o.Build(ctx, p, recipe)
}

// Build builds an image and writes it to its destination.
func (o *Target) Build(ctx context.Context, p *output.Printer, recipe image.Recipe) error {
	var img *image.Image
	err := p.Slow("reading the base and packing the layers", func() (err error) {
		img, err = o.Options(p).Build(ctx, recipe)
		return err
	})
	if err == nil {
		err = o.write(ctx, p, img)
	}
	return env.Interrupted(ctx, err)
}

// write writes and pushes an image to its destination.
func (o *Target) write(ctx context.Context, p *output.Printer, img *image.Image) error {
	img.Name = o.Image
	digest, err := img.Digest()
	if err != nil {
		return err
	}
	if err := o.Write(ctx, p, []*image.Image{img}, digest); err != nil {
		return err
	}
	if o.Push {
		return Push(ctx, p, img, o.Image, o.Access(p))
	}
	return nil
}

// Write writes images to a tarball and an OCI layout, if given. The result that is printed contains what.
func (o *Target) Write(ctx context.Context, p *output.Printer, images []*image.Image, what string) error {
	for _, to := range []struct {
		flag, path string
		write      func(context.Context, afero.Fs, string, []*image.Image) error
	}{{"--oci-layout", o.Layout, image.WriteLayout}, {"--tarball", o.Tarball, image.WriteTarball}} {
		if to.path == "" {
			continue
		}
		err := p.Slow("writing "+filepath.ToSlash(to.path), func() error {
			return to.write(ctx, p.FS, env.Absolute(p.Dir, to.path), images)
		})
		if err != nil {
			return fmt.Errorf("%s %s: %w", to.flag, to.path, diag.Cause(err))
		}
		if err := printWritten(p, "wrote", filepath.ToSlash(to.path), what); err != nil {
			return err
		}
	}
	return nil
}

// Push pushes an image. At a terminal it prints the progress.
func Push(ctx context.Context, p *output.Printer, img *image.Image, ref string, registries image.Registries) error {
	var progress func(done, all int64)
	if p.ErrTerminal && !p.Quiet {
		last := int64(-1)
		progress = func(done, all int64) {
			if percent := done * 100 / max(all, 1); percent != last {
				last = percent
				fmt.Fprintf(p.Err, "\r\x1b[Kpushing %s: %d%% of %.1f MB", ref, percent, float64(all)/1e6)
			}
		}
		defer fmt.Fprint(p.Err, "\r\x1b[K")
	} else {
		p.Progressf("pushing %s", ref)
	}
	pushed, err := registries.Push(ctx, img, ref, progress)
	if err != nil {
		return err
	}
	return printWritten(p, "pushed", pushed, "")
}

// printWritten prints the location of a written image.
func printWritten(p *output.Printer, verb, location, digest string) error {
	if digest != "" {
		location += "  " + digest
	}
	_, err := fmt.Fprintf(p.TextOut(), "%-8s %s\n", verb, location)
	return err
}

// CheckPlatforms validates the platforms of flags.
func CheckPlatforms(platforms []string) (findings diag.Findings) {
	for i, p := range platforms {
		problem := ""
		if err := image.CheckPlatform(p); err != nil {
			problem = err.Error()
		} else if slices.Contains(platforms[:i], p) {
			problem = "is given twice"
		}
		if problem != "" {
			findings.Add("--platform", p, problem)
		}
	}
	return findings
}

// Find finds the images of all references. The error covers all references.
func (o *Registry) Find(ctx context.Context, p *output.Printer, refs []string) ([]*image.Image, error) {
	var images []*image.Image
	var failures []error
	for _, ref := range refs {
		err := p.Slow("reading "+ref, func() error {
			found, err := o.Options(p).Images(ctx, ref)
			images = append(images, found...)
			return err
		})
		if err != nil {
			failures = append(failures, err)
		}
	}
	return images, errors.Join(failures...)
}
