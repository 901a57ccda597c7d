package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/cmd/internal/words"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/gokinds"
	"github.com/operon-sdk/operon/pkg/project"
)

func newCreateWebhook(a *app) *cobra.Command {
	var o gokinds.CreateWebhookOptions
	var legacy bool
	c := &cobra.Command{
		Use:   "webhook",
		Short: "Add defaulting, validation or conversion webhooks",
		Long: `Add webhooks with their code, tests, configuration and certificates, and register them with the
manager. They can be for one of the project's kinds, for a built-in kind, or for a kind from another
module.

You can add other types of webhooks to a kind later; your changes to the first ones are kept.
--force rewrites only the requested webhooks and leaves the rest of the file alone.

For conversion, --version names the hub, and --spoke the versions that convert to and from it.
Fields that both versions have are converted; a test lists the remaining ones.

--certificates chooses where the first webhook and all later ones get their certificate:

  cert-manager  cert-manager in the cluster issues it (default)
  self-managed  the manager issues and renews it, with internal/webhookcert
                and the permissions in config/certificates
  provided      you create the Secret webhook-server-cert, and put its CA into
                config/certificates/ca.yaml

Under OLM, all of them use OLM's certificates. 'edit --certificates' changes the choice.`,
		Example: fmt.Sprintf(`  # Set defaults and validate:
  %[1]s create webhook --group cache --version v1alpha1 --kind Memcached --defaulting --programmatic-validation

  # Without cert-manager:
  %[1]s create webhook --group cache --version v1alpha1 --kind Memcached --defaulting --certificates self-managed

  # Convert between v1alpha1 and v1:
  %[1]s create webhook --group cache --version v1 --kind Memcached --conversion --spoke v1alpha1

  # Validate a kind of Kubernetes or of another module:
  %[1]s create webhook --group apps --version v1 --kind Deployment --programmatic-validation
  %[1]s create webhook --group cert-manager --version v1 --kind Issuer --defaulting --external-api-path github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1 --external-api-domain io --external-api-module github.com/cert-manager/cert-manager@v1.18.2`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runCreateWebhook(c, &o, legacy) },
	}
	f := c.Flags()
	f.SortFlags = false // help lists the flags that most commands need first
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
	addCertificates(c, (*string)(&o.Certificates), "where webhooks get their certificate (default: as before, or from cert-manager)")
	f.BoolVar(&o.Force, "force", false, "rewrite existing webhooks; the rest of their files is kept")
	f.BoolVar(&o.Generate, "make", true, "generate code and manifests afterwards")
	f.BoolVar(&legacy, "legacy", false, "not supported: webhooks in the package of the API types")
	a.addPlugins(f, "`plugins` to use; only go/v4 is supported")
	completeValues(c, "plugins", "go/v4")
	a.addOffline(f)
	a.addOutput(c, output.Text, output.JSON)
	return c
}

// addCertificates adds the flag --certificates.
func addCertificates(c *cobra.Command, value *string, usage string) {
	choiceVar(c, value, "certificates", "", "", usage, project.CertificateSources()...)
}

func (a *app) runCreateWebhook(c *cobra.Command, o *gokinds.CreateWebhookOptions, legacy bool) error {
	return a.runInProject(c.Context(), func(p *action.Project) (*action.Result, error) {
		if err := p.RefuseWebhooks(); err != nil {
			return nil, err
		}
		config, err := p.Load(action.CurrentLayout)
		if err != nil {
			return nil, err
		}
		o.Plugins = a.parsedPlugins()
		if legacy {
			return nil, usagef(c, "--legacy: webhooks in the package of the API types are unsupported; leave the flag out to create them in internal/webhook")
		}
		if o.ExternalPath == "" {
			action.FillNames(config, &o.Group, &o.Version, o.Kind)
		}
		if err := a.askWebhook(c, config, o); err != nil {
			return nil, err
		}
		o.Spokes = words.Trimmed(o.Spokes)
		if !o.Defaulting && !o.Validation && !o.Conversion && len(o.Spokes) == 0 {
			return nil, usagef(c, "nothing to create; pass --defaulting, --programmatic-validation or --conversion")
		}
		return gokinds.CreateWebhook(c.Context(), p, *o)
	})
}
