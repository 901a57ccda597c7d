package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/cmd/internal/images"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/image"
)

// The media types of charts in registries, as Helm defines them.
const (
	chartConfigType     = "application/vnd.cncf.helm.config.v1+json"
	chartArchiveType    = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	chartProvenanceType = "application/vnd.cncf.helm.chart.provenance.v1.prov"
)

const ociScheme = "oci://"

func newChartPush(a *app) *cobra.Command {
	var o images.Registry
	c := &cobra.Command{
		Use:   "push [DIR|ARCHIVE] oci://REGISTRY/PATH",
		Short: "Push a Helm chart to a registry",
		Long: `Push the operator's chart, or the chart in an archive or a directory, to an OCI registry as
oci://REGISTRY/PATH/NAME with its version as the tag, as 'helm push' does, but without Helm or
Docker. A directory is packaged first, as by 'chart package'. If there is a provenance file beside
the archive, ARCHIVE.prov, it is pushed, too. The same archive always gives the same digest.

Tags can't contain +, so that version 1.0.0+abc becomes the tag 1.0.0_abc; Helm finds it.

Operon uses your credentials for docker and podman.`,
		Example: fmt.Sprintf(`  %[1]s chart push oci://registry.example.com/charts

  # What was packaged and signed before:
  %[1]s chart push dist/memcached-operator-1.2.0.tgz oci://registry.example.com/charts

  # Then:
  helm install memcached-operator oci://registry.example.com/charts/memcached-operator --version 1.2.0`, a.program),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 || !strings.HasPrefix(args[len(args)-1], ociScheme) {
				return usagef(c, "name the registry, as in '%s oci://registry.example.com/charts'", c.CommandPath())
			}
			return o.Within(c, func() error { return a.runChartPush(c.Context(), args[:len(args)-1], args[len(args)-1], &o) })
		},
	}
	a.addChartOffline(c.Flags())
	o.AddTo(c.Flags())
	return c
}

func (a *app) runChartPush(ctx context.Context, args []string, to string, o *images.Registry) error {
	repository := strings.TrimSuffix(strings.TrimPrefix(to, ociScheme), "/")
	findings := o.Check()
	if strings.ContainsAny(repository[strings.LastIndexByte(repository, '/')+1:], ":@") && strings.Contains(repository, "/") {
		findings.Add("oci://REGISTRY/PATH", to, "must have no tag or digest; the tag is the version of the chart")
	} else {
		findings = append(findings, images.CheckNew("oci://REGISTRY/PATH", repository+"/chart")...)
	}
	if len(findings) > 0 {
		return findings
	}
	ctx, stop := env.UntilInterrupted(ctx)
	defer stop()
	archive, provenance, err := a.chartArchive(ctx, args)
	if err != nil {
		return env.Interrupted(ctx, err)
	}
	described, err := a.charts().Describe(ctx, helmchart.DescribeRequest{Archive: archive})
	if err != nil {
		return env.Interrupted(ctx, err)
	}
	layers := []image.Blob{{MediaType: chartArchiveType, Data: archive}}
	if provenance != nil {
		layers = append(layers, image.Blob{MediaType: chartProvenanceType, Data: provenance})
	}
	made, err := image.NewArtifact(image.Blob{MediaType: chartConfigType, Data: described.Config}, layers, described.Annotations)
	if err != nil {
		return err
	}
	ref := repository + "/" + described.Chart.Name + ":" + strings.ReplaceAll(described.Chart.Version, "+", "_")
	if findings := images.CheckNew("chart", ref); len(findings) > 0 {
		return findings
	}
	if a.dryRun {
		digest, err := made.Digest()
		if err == nil {
			a.print.Progressf("would push %s", image.WithDigest(ref, digest))
		}
		return err
	}
	return env.Interrupted(ctx, images.Push(ctx, a.print, made, ref, o.Access(a.print)))
}

// chartArchive returns the archive in the first of args and its provenance file, or nil, or packages a directory or the operator's chart.
func (a *app) chartArchive(ctx context.Context, args []string) (archive, provenance []byte, err error) {
	location, name, err := a.chartPlace(args)
	if err != nil {
		return nil, nil, err
	}
	file := a.Absolute(location)
	if isDir, err := afero.IsDir(a.FS, file); err == nil && isDir {
		made, err := a.packageChart(ctx, args, helmchart.PackageRequest{})
		if err != nil {
			return nil, nil, err
		}
		return made.Archive, nil, nil
	}
	if archive, err = afero.ReadFile(a.FS, file); err != nil {
		return nil, nil, diag.Finding{Position: diag.Position{File: name}, Problem: diag.Cause(err).Error()}
	}
	provenance, err = afero.ReadFile(a.FS, file+".prov")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, diag.Finding{Position: diag.Position{File: filepath.ToSlash(name) + ".prov"}, Problem: diag.Cause(err).Error()}
	}
	return archive, provenance, nil
}
