package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/bundles"
	"github.com/operon-sdk/operon/pkg/bundle"
)

// generateBundleFlags are the flags of generate bundle.
type generateBundleFlags struct {
	bundles.GenerateOptions
	digestOptions
	overwrite, stdout bool
}

func newGenerateBundle(a *app) *cobra.Command {
	var o generateBundleFlags
	c := &cobra.Command{
		Use:   "bundle",
		Short: "Generate the bundle: CSV, manifests, metadata and Dockerfile",
		Long: `Generate an operator bundle for the Operator Lifecycle Manager (OLM): a ClusterServiceVersion (CSV)
from the operator's manifests and a base with its descriptions, the other manifests, their metadata,
and the Dockerfile of the bundle image.

The manifests are read from stdin, from --input-dir, or from --deploy-dir and --crds-dir. Without
any of these, the kustomization in --kustomize-dir is built, without running kustomize. The base is
a CSV among the manifests, or bases/NAME.clusterserviceversion.yaml in --kustomize-dir.

Your edits to the bundle are kept: annotations, labels, additional Dockerfile lines, related images,
replaces and skips. Objects that OLM doesn't support are left out and listed with the reason. With
--strict, this is an error, except for objects that OLM replaces: the operator's Namespace, and the
Service and certificates of webhooks. If nothing changed, nothing is written.`,
		Example: fmt.Sprintf(`  # From the project's kustomization:
  %[1]s generate bundle --version 0.0.1

  # From a pipe, as 'make bundle' does:
  kustomize build config/manifests | %[1]s generate bundle --version 0.0.1

  # From a directory of manifests, without a project:
  %[1]s generate bundle --input-dir deploy --package memcached-operator --version 0.0.1

  # Channels of an existing bundle:
  %[1]s generate bundle --metadata --channels stable,candidate --default-channel stable`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if flags := c.Flags(); (flags.Changed("manifests") || flags.Changed("metadata")) && !o.Manifests && !o.Metadata {
				a.print.Notef("note: without --manifests and --metadata there is nothing to do; leave both flags out to generate both")
				return nil
			}
			return o.Within(c, func() error { return a.runGenerateBundle(c, o) })
		},
	}
	f := c.Flags()
	f.StringVarP(&o.Version, "version", "v", "", "semantic `version` of the bundle (default: the version of the base)")
	f.StringVar(&o.Channels, "channels", bundle.DefaultChannel, "comma-separated `channels` of the bundle")
	addBundleFlags(f, &o.GenerateOptions, &o.digestOptions)
	f.StringVar(&o.InputDir, "input-dir", "", "`directory` of the operator's manifests")
	f.StringVar(&o.DeployDir, "deploy-dir", "", "`directory` of the operator's manifests; prefer --input-dir")
	f.StringVar(&o.CRDsDir, "crds-dir", "", "`directory` of the CRDs (default: --deploy-dir)")
	f.BoolVar(&o.Manifests, "manifests", false, "generate only the manifests")
	f.BoolVar(&o.Metadata, "metadata", false, "generate only the metadata and the Dockerfile")
	f.BoolVar(&o.overwrite, "overwrite", true, "update existing metadata and Dockerfile; =false keeps them")
	a.addAllowRemote(f)
	f.BoolVar(&o.stdout, "stdout", false, "print the manifests and write nothing")
	return c
}

func (a *app) runGenerateBundle(c *cobra.Command, o generateBundleFlags) error {
	workDirIfEmpty(c, "kustomize-dir", &o.KustomizeDir)
	a.resolveDigests(&o.GenerateOptions, &o.digestOptions)
	o.KeepMetadata, o.Stdin = !o.overwrite, a.Stdin()
	return renderOrGenerate(a, c, o.stdout, o.GenerateOptions, bundles.Render, bundles.Generate)
}

// renderOrGenerate prints what an action renders, or runs one that writes it. There need not be a project.
func renderOrGenerate[T any](a *app, c *cobra.Command, stdout bool, options T,
	render func(context.Context, *action.Project, T) ([]byte, error),
	generate func(context.Context, *action.Project, T) (*action.Result, error)) error {
	if _, _, err := a.SourceDate(); err != nil {
		return err
	}
	root, err := a.ProjectOrDir()
	if err != nil {
		return err
	}
	if stdout {
		text, err := render(c.Context(), a.at(root), options)
		if err != nil {
			return err
		}
		_, err = a.Out.Write(text)
		return err
	}
	return a.runAt(c.Context(), a.actions(), root, func(p *action.Project) error { return a.print.Generated(generate(c.Context(), p, options)) })
}
