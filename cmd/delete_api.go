package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/action"
)

func newDeleteAPI(a *app) *cobra.Command {
	var o action.DeleteAPIOptions
	c := &cobra.Command{
		Use:   "api",
		Short: "Delete an API: types, controllers and manifests",
		Long: `Delete an API: its types, controllers, webhooks and tests, CRD, roles and sample, everything that
create api and create webhook inserted into the manager, suites and kustomizations, and its entry in
PROJECT.

If you edited files after create api wrote them, they are listed and nothing is deleted; --force
deletes them too. An API that other code in the project uses is kept, and the uses are listed. A
version that other versions convert to and from is kept until delete webhook removes the conversion.
Objects in clusters aren't deleted.

In a Helm project, delete a kind's entry in watches.yaml, its CRD, roles and sample, and its chart
unless another kind uses it. A chart that you edited is deleted only with --force.

In an Ansible project, delete a kind's entry in watches.yaml, its CRD, roles, sample and Molecule
test, and its role and playbook unless another kind uses them. A role or playbook that you edited is
deleted only with --force.`,
		Example: fmt.Sprintf(`  # An API with its controllers:
  %[1]s delete api --group cache --version v1alpha1 --kind Memcached

  # One of several controllers of a kind:
  %[1]s delete api --group cache --version v1alpha1 --kind Memcached --controller-name memcached-backup

  # Show what would be deleted, including edited files:
  %[1]s delete api --group cache --version v1alpha1 --kind Memcached --force --dry-run`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.runInProject(c.Context(), func(p *action.Project) (*action.Result, error) {
				config, err := p.Load(action.ScaffoldedLayouts)
				if err != nil {
					return nil, err
				}
				o.Findings = refuse(c, config.Facts(), "delete api")
				return p.DeleteAPI(c.Context(), o)
			})
		},
	}
	f := c.Flags()
	a.addOffline(f)
	a.addOutput(c, output.Text, output.JSON)
	f.StringVar(&o.Group, "group", "", "`group` of the API, without the project's domain")
	f.StringVar(&o.Version, "version", "", "`version` of the API, such as v1alpha1")
	f.StringVar(&o.Kind, "kind", "", "`kind` of the resource, such as Memcached")
	f.StringVar(&o.ControllerName, "controller-name", "", "delete only the controller of this `name`")
	f.BoolVar(&o.Force, "force", false, "delete edited files too")
	f.BoolVar(&o.Generate, "make", true, "generate code and manifests afterwards")
	return c
}
