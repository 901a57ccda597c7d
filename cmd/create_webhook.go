package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// webhookOptions are the flags of create webhook.
type webhookOptions struct {
	project.WebhookOptions
	plugins []string
	// make asks for generated code and manifests.
	make bool
	// legacy asks for webhooks beside the types, which is refused.
	legacy bool
}

func newCreateWebhook(a *app) *cobra.Command {
	var o webhookOptions
	c := &cobra.Command{
		Use:   "webhook",
		Short: "Add defaulting, validation or conversion webhooks",
		Long: `Add the code and tests of webhooks with their configuration and certificates, and register them with
the manager. They can be for a kind of the project, of Kubernetes or of another module.

Webhooks of another type can be added to a kind later; your changes to the first ones are kept.
--force rewrites the requested webhooks and leaves the rest of the file alone.

For conversion, --version names the hub, and --spoke the versions that convert to and from it.
Fields that both versions have are converted; a test lists those that are not.`,
		Example: fmt.Sprintf(`  # Set defaults and validate:
  %[1]s create webhook --group cache --version v1alpha1 --kind Memcached --defaulting --programmatic-validation

  # Convert between v1alpha1 and v1:
  %[1]s create webhook --group cache --version v1 --kind Memcached --conversion --spoke v1alpha1

  # Validate a kind of Kubernetes or of another module:
  %[1]s create webhook --group apps --version v1 --kind Deployment --programmatic-validation
  %[1]s create webhook --group cert-manager --version v1 --kind Issuer --defaulting --external-api-path github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1 --external-api-domain io --external-api-module github.com/cert-manager/cert-manager@v1.18.2`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runCreateWebhook(c, o) },
	}
	f := c.Flags()
	a.addOffline(f)
	a.addOutput(c, textOutput, jsonOutput)
	f.StringVar(&o.Group, "group", "", "`group` of the API, without the project's domain")
	f.StringVar(&o.Version, "version", "", "`version` of the API, such as v1alpha1; for conversion, the hub")
	f.StringVar(&o.Kind, "kind", "", "`kind` of the resource, such as Memcached")
	f.StringVar(&o.Plural, "plural", "", "`plural` of a kind that PROJECT does not record (default: derived from --kind)")
	f.BoolVar(&o.Defaulting, "defaulting", false, "add a defaulting webhook")
	f.BoolVar(&o.Validation, "programmatic-validation", false, "add a validation webhook")
	f.BoolVar(&o.Conversion, "conversion", false, "add a conversion webhook")
	f.StringSliceVar(&o.Spokes, "spoke", nil, "comma-separated `versions` that convert to and from --version")
	f.StringVar(&o.DefaultingPath, "defaulting-path", "", "URL `path` of the defaulting webhook, such as /mutate-me")
	f.StringVar(&o.ValidationPath, "validation-path", "", "URL `path` of the validation webhook, such as /validate-me")
	addExternal(f, &o.ResourceOptions)
	f.BoolVar(&o.Force, "force", false, "rewrite existing webhooks; the rest of their files is kept")
	f.BoolVar(&o.make, "make", true, "generate code and manifests afterwards")
	f.BoolVar(&o.legacy, "legacy", false, "not supported: webhooks in the package of the API types")
	a.addPlugins(f, "`plugins` to use; only go/v4 is supported")
	completeValues(c, "plugins", "go/v4")
	return c
}

func (a *app) runCreateWebhook(c *cobra.Command, o webhookOptions) error {
	root, config, done, err := a.begin(c.Context())
	if done || err != nil {
		return err
	}
	o.plugins = a.plugins
	if o.legacy {
		return usagef(c, "--legacy: webhooks beside the API types are not supported, current controller-runtime has no place for them; leave the flag out to get them in internal/webhook")
	}
	for i, spoke := range o.Spokes {
		o.Spokes[i] = strings.TrimSpace(spoke)
	}
	if !o.Defaulting && !o.Validation && !o.Conversion && len(o.Spokes) == 0 {
		return usagef(c, "a webhook defaults, validates or converts: give --defaulting, --programmatic-validation or --conversion, or several of them")
	}
	if o.ExternalPath == "" {
		fillNames(config, &o.Group, &o.Version, o.Kind)
	}
	if err := a.askNames(config, &o.ResourceOptions); err != nil {
		return err
	}
	if _, err := o.resolve(config); err != nil {
		return err
	}
	return a.create(c.Context(), root, a.webhookCreation(o))
}

// resolve validates all flags together and completes the resource that they name.
func (o *webhookOptions) resolve(config *project.Config) (project.Resource, error) {
	_, findings := project.CheckPlugins(o.plugins)
	resource, wrong := project.ResolveWebhook(config, o.WebhookOptions)
	return resource, append(findings, wrong...).Err()
}

// webhookCreation is what create webhook does.
func (a *app) webhookCreation(o webhookOptions) creation {
	var generate codegen.Generators
	if o.make {
		generate = codegen.All
	}
	return creation{
		load: loadProject, resolve: o.resolve, module: o.ExternalModule, generate: generate, edit: "fill in the webhooks and their tests",
		write: func(tree *worktree.Tree, config *project.Config, r project.Resource, header string) (func(), error) {
			asked := project.Webhooks{Defaulting: o.Defaulting, Validation: o.Validation, Conversion: o.Conversion}
			data := a.webhookData(config, r, header, asked)
			var existing []scaffold.Webhooks
			for _, other := range config.Resources() {
				existing = append(existing, a.recordedWebhooks(config, other, header)...)
			}
			report, err := scaffold.CreateWebhook(tree, data, newSpokes(config, r, o), existing, o.Force)
			if err != nil {
				return nil, err
			}
			return func() {
				if len(report.Missing) > 0 {
					a.warnf("config/default/kustomization.yaml lacks what webhooks need; add to it: %s", strings.Join(report.Missing, "; "))
				}
				if len(report.Skipped) > 0 {
					a.warnf("no end-to-end tests were added for the webhooks: %s", strings.Join(report.Skipped, "; "))
				}
				if len(report.NotConverted) > 0 {
					a.warnf("fields without an equal in the other version are not converted yet: %s", strings.Join(report.NotConverted, ", "))
				}
			}, nil
		},
	}
}

// newSpokes are the versions that a conversion is written for.
func newSpokes(config *project.Config, r project.Resource, o webhookOptions) []scaffold.Spoke {
	var known []string
	if old, ok := config.Resource(r.GVK); ok && old.Webhooks != nil && !o.Force {
		known = old.Webhooks.Spoke
	}
	return spokesOf(config, r, slices.DeleteFunc(slices.Clone(o.Spokes), func(version string) bool { return slices.Contains(known, version) }))
}
