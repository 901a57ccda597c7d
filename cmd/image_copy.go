package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/cmd/internal/images"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
)

func newImageSave(a *app) *cobra.Command {
	var o images.Target
	c := &cobra.Command{
		Use:   "save IMAGE...",
		Short: "Copy images to a file or directory",
		Long: `Copy images, with all their platforms, to a tarball or an OCI layout, to transfer them to a site
without a network. Digests don't change. An image is read from its registry, or from an OCI layout
or a tarball; without a tag, these give all their images. At the site, 'image load' pushes them to a
registry; docker load and podman load read the tarball too.`,
		Example: fmt.Sprintf(`  %[1]s image save --tarball site.tar registry.example.com/memcached-operator:v0.0.1 registry.example.com/memcached-operator-bundle:v0.0.1

  # At the site:
  %[1]s image load site.tar --registry registry.site.example`, a.program),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef(c, "name the images to save, as in '%s --tarball site.tar registry.example.com/memcached-operator:v0.0.1'", c.CommandPath())
			}
			return o.Within(c, func() error { return a.runImageSave(c.Context(), args, &o) })
		},
	}
	f := c.Flags()
	f.StringVar(&o.Tarball, "tarball", "", "`file` to write")
	f.StringVar(&o.Layout, "oci-layout", "", "OCI layout `directory` to create or add to")
	o.Registry.AddTo(f)
	return c
}

func (a *app) runImageSave(ctx context.Context, refs []string, o *images.Target) error {
	findings := o.Registry.Check()
	if o.Tarball == "" && o.Layout == "" {
		findings.Add("--tarball", "", "or --oci-layout is required")
	}
	if len(findings) > 0 {
		return findings
	}
	ctx, stop := env.UntilInterrupted(ctx)
	defer stop()
	found, err := o.Find(ctx, a.print, refs)
	if err != nil {
		return env.Interrupted(ctx, err)
	}
	what := diag.Count(len(found), "image")
	if len(found) == 1 {
		if what, err = found[0].Digest(); err != nil {
			return err
		}
	}
	if a.dryRun {
		a.print.Progressf("would save %s", what)
		return nil
	}
	return env.Interrupted(ctx, o.Write(ctx, a.print, found, what))
}

func newImageLoad(a *app) *cobra.Command {
	var (
		o        images.Registry
		registry string
	)
	c := &cobra.Command{
		Use:   "load SOURCE [IMAGE]",
		Short: "Push images from a file or directory to a registry",
		Long: `Push the images of SOURCE to a registry. SOURCE is a tarball from 'image save', docker save or
podman save, an OCI layout, or an image in another registry. Digests don't change, except that
docker save doesn't keep them, so its images get new ones. With IMAGE, SOURCE must contain one
image, and IMAGE is its new name. With --registry, all images keep their names except for the
registry, which may include a path.`,
		Example: fmt.Sprintf(`  # All images, as registry.site.example/mirror/NAME:
  %[1]s image load site.tar --registry registry.site.example/mirror

  # One image, from one registry to another:
  %[1]s image load quay.io/example/memcached-operator:v0.0.1 registry.site.example/memcached-operator:v0.0.1`, a.program),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 || (len(args) == 2) == (registry != "") {
				return usagef(c, "%s takes a source, and either an image's new name or --registry", c.CommandPath())
			}
			to := ""
			if len(args) == 2 {
				to = args[1]
			}
			return o.Within(c, func() error { return a.runImageLoad(c.Context(), args[0], to, registry, o) })
		},
	}
	f := c.Flags()
	f.StringVar(&registry, "registry", "", "`registry` to push all images to, such as registry.site.example/mirror")
	o.AddTo(f)
	return c
}

func (a *app) runImageLoad(ctx context.Context, from, to, registry string, o images.Registry) error {
	findings := o.Check()
	if to != "" {
		findings = append(findings, images.CheckNew("IMAGE", to)...)
	}
	if len(findings) > 0 {
		return findings
	}
	ctx, stop := env.UntilInterrupted(ctx)
	defer stop()
	found, err := o.Find(ctx, a.print, []string{from})
	if err != nil {
		return env.Interrupted(ctx, err)
	}
	if to != "" && len(found) > 1 {
		return diag.Findings{{Field: "SOURCE", Value: from, Problem: fmt.Sprintf("contains %d images (%s); append the name of one after a colon, or push all with --registry", len(found), image.Names(found))}}
	}
	var refs []string
	for _, img := range found {
		ref := to
		if ref == "" {
			if ref, err = image.WithRegistry(img.Name, registry); err != nil {
				findings.Add("--registry", registry, err.Error())
			}
		}
		refs = append(refs, ref)
	}
	if len(findings) > 0 {
		return findings
	}
	for i, img := range found {
		if a.dryRun {
			a.print.Progressf("would push %s", refs[i])
			continue
		}
		if err := images.Push(ctx, a.print, img, refs[i], o.Access(a.print)); err != nil {
			return env.Interrupted(ctx, err)
		}
	}
	return nil
}
