package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/local"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/tempdir"
)

// imageBuildOptions are the flags of image build.
type imageBuildOptions struct {
	targetOptions
	base   string
	labels []string
}

func newImageBuild(a *app) *cobra.Command {
	var o imageBuildOptions
	c := &cobra.Command{
		Use:   "build",
		Short: "Build the manager's image",
		Long: `Compile the manager and build an image of it, without Docker, and push the image or write it to a
file or directory. The Dockerfile is not read.

The manager is linked statically and contains no local paths; set GOFLAGS for more flags of 'go
build'. It is one layer, /manager, and runs as user 65532. A second layer lists its modules as an
SPDX document: /` + image.SBOMFile + `. The same source gives the same digest on every
machine with the same Go version: all files and the image have the time of SOURCE_DATE_EPOCH, or of
1970.

The layers below the manager hold the certificates of public authorities (Mozilla's list when this
version of Operon was built), a user name, and /tmp. With --base scratch there are no such layers:
that suffices for a manager that only connects to its cluster, but TLS connections to public
services fail without certificates. --base can name any other image: in a registry, an OCI layout or
a tarball.

Images are pushed with the credentials of docker and podman. Several platforms result in one image
index, one platform in a single image.`,
		Example: fmt.Sprintf(`  # For two platforms, to a registry:
  %[1]s image build --image registry.example.com/memcached-operator:v0.0.1 --platform linux/amd64,linux/arm64 --push

  # To a file, for docker load or a site without network:
  %[1]s image build --image memcached-operator:dev --tarball memcached-operator.tar

  # On another base:
  %[1]s image build --image registry.example.com/memcached-operator:v0.0.1 --base gcr.io/distroless/static:nonroot --push`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return o.within(c, func() error { return a.runImageBuild(c.Context(), &o) })
		},
	}
	o.addTo(c)
	return c
}

func (o *imageBuildOptions) addTo(c *cobra.Command) {
	f := c.Flags()
	o.targetOptions.addTo(f)
	f.StringSliceVar(&o.platforms, "platform", nil, "comma-separated `platforms` to build for (default: linux/"+runtime.GOARCH+")")
	f.StringVar(&o.base, "base", "", "base `image`, or scratch for none (default: certificates, a user and /tmp)")
	f.StringArrayVar(&o.labels, "label", nil, "`key=value` label of the image; repeat for more")
}

// check completes and validates the flags.
func (o *imageBuildOptions) check(labels map[string]string) diag.Findings {
	findings := append(o.targetOptions.check(), addLabels(o.labels, labels)...)
	if len(o.platforms) == 0 {
		o.platforms = []string{"linux/" + runtime.GOARCH}
	}
	findings = append(findings, checkPlatforms(o.platforms)...)
	slices.Sort(o.platforms)
	return findings
}

func (a *app) runImageBuild(ctx context.Context, o *imageBuildOptions) error {
	root, err := a.intactProject()
	if err != nil {
		return err
	}
	dir, err := a.workDir()
	if err != nil {
		return err
	}
	config, err := project.Load(a.FS, root)
	if err != nil {
		return err
	}
	labels := map[string]string{}
	if title := config.ProjectName(); title != "" {
		labels["org.opencontainers.image.title"] = title
	}
	if host, _, _ := strings.Cut(config.Repo(), "/"); slices.Contains([]string{"github.com", "gitlab.com", "codeberg.org", "bitbucket.org"}, host) {
		labels["org.opencontainers.image.source"] = "https://" + config.Repo()
	}
	if findings := append(o.check(labels), a.checkSourceImage("--base", dir, o.base)...); len(findings) > 0 {
		return findings
	}
	at, err := a.imageTime()
	if err != nil {
		return err
	}
	main, err := local.MainPackage(root)
	if err != nil {
		return err
	}
	if a.dryRun {
		a.progressf("would build %s for %s", main, strings.Join(o.platforms, ", "))
		return nil
	}
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	if err := a.checkTarget(ctx, dir, &o.targetOptions); err != nil {
		return interrupted(ctx, err)
	}
	temp, err := tempdir.New(a.Getenv("TMPDIR"), "image")
	if err != nil {
		return err
	}
	defer func() { _ = temp.Remove() }() // a later command removes what remains
	recipe := image.Recipe{
		Base: o.base, User: fmt.Sprintf("%d:%d", image.NonRoot, image.NonRoot), Entrypoint: []string{"/manager"}, Dir: "/",
		Labels: labels, Created: at, Author: "operon image build",
	}
	var base []*image.Layer
	if o.base == "" {
		layer, err := image.BaseLayer(at)
		if err != nil {
			return err
		}
		recipe.Base, base = image.Scratch, []*image.Layer{layer}
	}
	for i, platform := range o.platforms {
		binary := filepath.Join(temp.Path, fmt.Sprintf("manager-%d", i))
		if err := a.compile(ctx, root, main, platform, binary); err != nil {
			return interrupted(ctx, err)
		}
		layers, err := image.ManagerLayers(a.FS, binary, "operon", at)
		if err != nil {
			return fmt.Errorf("the manager for %s: %w", platform, err)
		}
		recipe.Parts = append(recipe.Parts, image.Part{Platform: platform, Layers: append(slices.Clone(base), layers...)})
	}
	return a.buildImage(ctx, dir, recipe, &o.targetOptions)
}

// compile builds the manager for a platform.
func (a *app) compile(ctx context.Context, root, pkg, platform, binary string) error {
	args := []string{"build", "-trimpath", "-buildvcs=false", "-o", binary}
	if !strings.Contains(a.Getenv("GOFLAGS"), "-ldflags") {
		args = append(args, "-ldflags=-s -w") // debug information is half of the image
	}
	a.progressf("compiling %s for %s", pkg, platform)
	var output bytes.Buffer
	err := a.runGo(ctx, root, image.GoVariables(platform), &output, &output, append(args, pkg)...)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, codegen.ErrGoMissing), is[*codegen.EnvironmentError](err):
		return err
	}
	text := strings.TrimSpace(output.String())
	if text == "" {
		text = diag.Cause(err).Error()
	}
	return fmt.Errorf("the manager does not build for %s: go build %s:\n%s", platform, pkg, text)
}
