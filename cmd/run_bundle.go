package cmd

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/images"
	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/bundle/catalog"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm/operator"
)

func newRunBundle(a *app) *cobra.Command {
	o := &runOptions{}
	c := &cobra.Command{
		Use:   "bundle IMAGE|DIR|OCI-LAYOUT",
		Short: "Install the operator of a bundle with OLM",
		Long: `Install a bundle's operator the way its users will: create and serve a catalog in the cluster,
subscribe OLM to it, and wait until the operator is ready.

If you pass an IMAGE, the nodes must be able to pull it, as they pull every operator's bundle. A
directory, an OCI layout or a tarball is passed to OLM together with the catalog, so the bundle
needs no registry, though the operator's own image does.

If the installation fails, the command prints the causes: states of OLM's objects, events and log
lines. It gives up when --timeout expires, or earlier when waiting longer can't help: an image
doesn't exist or can't be pulled, a container failed four times, OLM couldn't resolve the
dependencies for 20 seconds, or the operator isn't allowed to read its custom resources. Run the
command again to continue an interrupted installation. 'cleanup' removes everything that it created,
except the image from --push-catalog.`,
		Example: fmt.Sprintf(`  # The bundle of this project, without a registry for it:
  %[1]s run bundle ./bundle

  # An image, in its own namespace:
  %[1]s run bundle quay.io/example/memcached-operator-bundle:v0.0.1 -n memcached --install-mode OwnNamespace

  # Behind a proxy, and removed again if it fails:
  %[1]s run bundle ./bundle --env HTTPS_PROXY --env NO_PROXY --cleanup-on-failure --timeout 5m

  # With the catalog as an image instead of ConfigMaps:
  %[1]s run bundle ./bundle --push-catalog quay.io/example/memcached-operator-catalog:test

  # Print the objects instead of applying them:
  %[1]s run bundle ./bundle -n memcached --dry-run -o yaml`, a.program),
		Args: oneArgument("an image, a bundle directory or an OCI layout"),
		RunE: func(c *cobra.Command, args []string) error { return a.runBundleImage(c.Context(), args[0], o) },
	}
	o.addServing(c)
	o.addPulling(c)
	o.addMode(c)
	return c
}

func (a *app) runBundleImage(ctx context.Context, arg string, o *runOptions) error {
	findings, mode := o.check(a.dryRun)
	if err := findings.Err(); err != nil {
		return err
	}
	ctx, stop := o.limited(ctx)
	defer stop()
	client, namespace, err := a.connectOrDryRun(ctx, &o.operatorOptions)
	if err != nil {
		return err
	}
	source, ref, err := a.runSource(ctx, client, namespace, arg, o)
	if err != nil {
		return err
	}
	a.print.Progressf("Creating a File-Based Catalog of the bundle %q", arg)
	bundle, err := operator.NewBundle(ctx, source, ref, operator.Channel, "")
	if err != nil {
		return err
	}
	a.print.Progressf("Generated a valid File-Based Catalog")
	return a.install(ctx, client, namespace, bundle, mode, o)
}

// install installs a bundle with OLM or, in a dry run, prints the objects.
func (a *app) install(ctx context.Context, client *kube.Client, namespace string, bundle operator.Bundle, mode operator.InstallMode, o *runOptions) error {
	options := operator.RunOptions{Client: client, Namespace: namespace, Bundle: bundle, Mode: mode, Serving: o.serving(a), CleanUp: o.cleanUp}
	a.pushCatalogTo(&options, o)
	if a.dryRun {
		objects, err := operator.Objects(options)
		if err != nil {
			return err
		}
		a.print.Progressf("the InstallPlan of the Subscription must be approved, which this command does automatically")
		return a.print.Objects(objects, o.output)
	}
	return runOperator(ctx, a.print, &options.Reporter, func() error { return operator.Run(ctx, options) })
}

// runSource reads a bundle. The returned image is the one that nodes pull; empty if the catalog must contain the manifests.
func (a *app) runSource(ctx context.Context, client *kube.Client, namespace, arg string, o *runOptions) (*catalog.Source, string, error) {
	registries, err := bundleRegistries(ctx, a.print, client, namespace, arg, o)
	if err != nil {
		return nil, "", err
	}
	opened, err := images.OpenBundle(ctx, a.print, a.Dir, arg, registries)
	if err != nil {
		return nil, "", fmt.Errorf("bundle %s: %w", filepath.ToSlash(arg), err)
	}
	defer func() { _ = opened.Close() }()
	source, problems := catalog.ReadBundle(opened.FS, opened.Name)
	if len(problems) > 0 {
		return nil, "", problems
	}
	return source, opened.Ref, nil
}

// bundleRegistries returns the settings of the registry of a bundle.
func bundleRegistries(ctx context.Context, p *output.Printer, client *kube.Client, namespace, arg string, o *runOptions) (image.Registries, error) {
	registries := o.Access(p)
	if host := registryOf(arg); host != "" {
		if o.skipTLSVerify {
			registries.SkipVerify = append(slices.Clip(registries.SkipVerify), host)
		}
		if o.useHTTP || o.skipTLS {
			registries.PlainHTTP = append(slices.Clip(registries.PlainHTTP), host)
		}
	}
	if o.caSecret == "" || client == nil {
		return registries, nil
	}
	pool, err := operator.ReadCertPool(ctx, client, namespace, o.caSecret)
	if err != nil {
		return registries, fmt.Errorf("--ca-secret-name: %w", err)
	}
	transport, ok := p.HTTP.(*http.Transport)
	if !ok {
		return registries, nil // of a test
	}
	transport = transport.Clone()
	if transport.TLSClientConfig == nil {
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	transport.TLSClientConfig.RootCAs = pool
	registries.Transport = transport
	return registries, nil
}

// registryOf returns the host in the name of an image; empty if there is none.
func registryOf(arg string) string {
	host, _, found := strings.Cut(strings.TrimPrefix(arg, "docker://"), "/")
	if !found {
		return ""
	}
	return host
}
