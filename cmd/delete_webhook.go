package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/cmd/internal/words"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/gokinds"
)

func newDeleteWebhook(a *app) *cobra.Command {
	var o gokinds.DeleteWebhookOptions
	c := &cobra.Command{
		Use:   "webhook",
		Short: "Delete webhooks: code, tests and configuration",
		Long: `Delete an API's webhooks, all of them or only the given types: their code and tests, the conversion
between versions, everything that create webhook inserted into the manager, suites and
kustomizations, and their entry in PROJECT. The project's last webhook takes the configuration,
service and certificates with it.

If you edited files after create webhook wrote them, they are listed and nothing is deleted; --force
deletes them too. The code of the remaining webhooks doesn't change. Objects in clusters aren't
deleted.`,
		Example: fmt.Sprintf(`  # All webhooks of an API:
  %[1]s delete webhook --group cache --version v1alpha1 --kind Memcached

  # Only the defaulting webhook:
  %[1]s delete webhook --group cache --version v1alpha1 --kind Memcached --defaulting

  # The conversion of one of several versions to and from the hub, v1:
  %[1]s delete webhook --group cache --version v1 --kind Memcached --conversion --spoke v1alpha1

  # Show what would be deleted, including edited files:
  %[1]s delete webhook --group cache --version v1alpha1 --kind Memcached --force --dry-run`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Spokes = words.Trimmed(o.Spokes)
			return a.runInProject(c.Context(), func(p *action.Project) (*action.Result, error) { return gokinds.DeleteWebhook(c.Context(), p, o) })
		},
	}
	f := c.Flags()
	a.addOffline(f)
	a.addOutput(c, output.Text, output.JSON)
	f.StringVar(&o.Group, "group", "", "`group` of the API, without the project's domain")
	f.StringVar(&o.Version, "version", "", "`version` of the API, such as v1alpha1; for conversion, the hub")
	f.StringVar(&o.Kind, "kind", "", "`kind` of the resource, such as Memcached")
	f.BoolVar(&o.Defaulting, "defaulting", false, "delete the defaulting webhook")
	f.BoolVar(&o.Validation, "programmatic-validation", false, "delete the validation webhook")
	f.BoolVar(&o.Conversion, "conversion", false, "delete the conversion between versions")
	f.StringSliceVar(&o.Spokes, "spoke", nil, "comma-separated `versions` to stop converting (default: all)")
	f.BoolVar(&o.Force, "force", false, "delete edited files too")
	f.BoolVar(&o.Generate, "make", true, "generate code and manifests afterwards")
	return c
}
