package cmd

import (
	"cmp"
	"context"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/olm"
	"github.com/operon-sdk/operon/pkg/project"
)

// olmInstallOptions are the flags of olm install.
type olmInstallOptions struct {
	olmOptions
	registry, image, catalog, output string
	sha256                           string
	upgrade                          bool
	pinned                           *olm.Checksums
}

func newOLMInstall(a *app) *cobra.Command {
	o := &olmInstallOptions{}
	c := &cobra.Command{
		Use:   "install",
		Short: "Install, repair or upgrade OLM",
		Long: fmt.Sprintf(`Install OLM in the cluster and wait until it is ready. The manifests of %[1]s are part of this
program, so the only network needed is the cluster's own; other versions are downloaded from OLM's
releases. Checksums of 0.31.0 and most older releases are built in, and other files are rejected.
For any other version, a warning prints the checksums of the downloaded files for --sha256, which
accepts only those files.

Existing objects are repaired, and an interrupted installation is completed. With --upgrade, an
older version is replaced; its operators don't change. If the cluster would reject any object,
nothing changes. If OLM isn't ready in time, the command prints the causes: conditions, events and
the last log lines. It doesn't wait for the catalog, because OLM works without it; 'olm status'
shows its state.`, olm.DefaultVersion),
		Example: fmt.Sprintf(`  # The version that is part of this program:
  %[1]s olm install

  # In a cluster without access to public registries and catalogs:
  %[1]s olm install --image-registry registry.example.com:5000 --catalog-image none

  # Upgrade an older version:
  %[1]s olm install --upgrade

  # Another version, with the checksums of its files:
  %[1]s olm install --version 0.45.0 --sha256 crds.yaml=DIGEST,olm.yaml=DIGEST

  # Print the objects instead of applying them:
  %[1]s olm install --dry-run -o yaml | kubectl apply --server-side -f -`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.olmInstall(c.Context(), o) },
	}
	o.add(c, "`namespace` that OLM runs in", "`version` of OLM, such as 0.46.0, or latest", olm.DefaultVersion[1:])
	flags := c.Flags()
	flags.StringVar(&o.registry, "image-registry", "", "`registry` to pull all images from, such as registry.example.com:5000/mirror")
	flags.StringVar(&o.image, "olm-image", "", "`image` of OLM itself")
	choiceVar(c, &o.catalog, "catalog-image", "", "", "`image` of the catalog operatorhubio-catalog, or none to omit it", olm.NoCatalog)
	flags.BoolVar(&o.upgrade, "upgrade", false, "replace an older version")
	flags.StringVar(&o.sha256, "sha256", "", "SHA-256 `digests` of the downloaded files, as crds.yaml=DIGEST,olm.yaml=DIGEST")
	choiceVar(c, &o.output, "output", "o", "", "format of the objects that --dry-run prints (default: yaml)", "yaml", "json")
	return c
}

// check returns the findings about the flags as an error.
func (o *olmInstallOptions) check(dryRun bool) error {
	findings := o.olmOptions.check()
	if o.version == "" && len(findings) == 0 {
		findings.Add("--version", "", "must be a version such as 0.46.0, or latest")
	}
	if o.sha256 != "" {
		var err error
		if o.pinned, err = olm.ParseChecksums(o.sha256); err != nil {
			findings.Add("--sha256", o.sha256, err.Error())
		} else if o.version == olm.DefaultVersion {
			findings.Add("--sha256", o.sha256, olm.DefaultVersion+" is part of this program and is not downloaded; pass another --version")
		}
	}
	registry := regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[0-9]+)?(/[a-z0-9._/-]+)?$`)
	if o.registry != "" && !registry.MatchString(o.registry) {
		findings.Add("--image-registry", o.registry, "must be a host with an optional port and path, without https://")
	}
	if o.image != "" {
		findings = append(findings, project.CheckImage("--olm-image", o.image)...)
	}
	if o.catalog != "" && o.catalog != olm.NoCatalog {
		findings = append(findings, project.CheckImage("--catalog-image", o.catalog)...)
	}
	if wrong := checkChoice("-o", cmp.Or(o.output, "yaml"), "yaml", "json"); wrong != nil {
		findings = append(findings, wrong...)
	} else if o.output != "" && !dryRun {
		findings.Add("-o", o.output, "requires --dry-run")
	}
	if o.namespace == olm.OperatorsNamespace {
		findings.Add("--olm-namespace", o.namespace, "is the namespace of operators for the whole cluster; OLM needs another one")
	}
	return findings.Err()
}

func (a *app) olmInstall(ctx context.Context, o *olmInstallOptions) error {
	if err := o.check(a.dryRun); err != nil {
		return err
	}
	ctx, stop := o.limited(ctx)
	defer stop()
	release, err := olm.Fetch(ctx, a.print.Transport(), o.version, o.pinned)
	if err != nil {
		return err
	}
	if release.Checksums != nil && !release.Pinned {
		a.print.Warnf("the checksums of OLM %s are not known to this program, so its manifests are not verified; to accept only these files, give\n  --sha256 %s", release.Version, release.Checksums)
	}
	release.Customize(olm.Settings{Namespace: o.namespace, Registry: o.registry, Image: o.image, Catalog: o.catalog})
	if a.dryRun {
		return a.print.Objects(release.All(), o.output)
	}
	cluster, err := a.connectWithNodes(ctx, o.clusterChoice)
	if err != nil {
		return err
	}
	progress := &output.Steps{Printer: a.print}
	err = olm.Install(ctx, olm.InstallOptions{
		Client: cluster, Release: release, Namespace: o.namespace, Upgrade: o.upgrade, Reporter: olm.Reporter{Progress: progress.Report},
	})
	progress.End()
	if err != nil {
		return orInterrupted(ctx, err)
	}
	a.print.Progressf("OLM %s is installed\n", release.Version)
	var rows []olm.Row
	for _, object := range release.All() {
		rows = append(rows, olm.Row{Name: object.GetName(), Namespace: object.GetNamespace(), Kind: object.GetKind(), Status: olm.StatusInstalled})
	}
	return printRows(a.print.TextOut(), rows, false)
}
