package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/rename"
	"github.com/operon-sdk/operon/pkg/project"
)

func newRenameAPI(a *app) *cobra.Command {
	var o rename.APIOptions
	c := &cobra.Command{
		Use:   "api",
		Short: "Rename a kind, group, version or the domain",
		Long: `Rename an API everywhere in the project: the Go types, functions and variables that belong to it,
imports, package and file names, markers, PROJECT, CRDs, roles, samples, kustomizations, the base of
the bundle, and the scaffold's comments and tests. If you haven't edited the API, the result is byte
for byte the same as creating it with the new name.

--group, --version, --kind and --domain name the current API; --from-group and so on mean the same.
You can leave them out if the project has only one. All versions of a kind share its name, all kinds
of a group its directory, and all kinds of a version its package, so these change together; the
domain belongs to the whole project.

The code must compile before and after the change, and every identifier must still refer to the same
declaration. Otherwise nothing changes. Your own strings and comments that contain an old name are
listed for you to change.`,
		Example: fmt.Sprintf(`  # Another kind, in all its versions:
  %[1]s rename api --group cache --kind Memcached --to-kind Cachet

  # Another group and version at once:
  %[1]s rename api --group cache --version v1alpha1 --to-group store --to-version v1beta1

  # Another domain for all groups of the project:
  %[1]s rename api --to-domain example.org

  # Show what would change:
  %[1]s rename api --kind Memcached --to-kind Cachet --dry-run`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.To == (project.GVK{}) && o.Plural == "" {
				return usagef(c, "nothing to rename; pass --to-kind, --to-group, --to-version, --to-domain or --to-plural")
			}
			return a.runInProject(c.Context(), func(p *action.Project) (*action.Result, error) { return rename.API(c.Context(), p, o) })
		},
	}
	f := c.Flags()
	a.addOffline(f)
	a.addOutput(c, output.Text, output.JSON)
	f.SetNormalizeFunc(fromFlags)
	f.StringVar(&o.From.Group, "group", "", "current `group` of the API, without the project's domain")
	f.StringVar(&o.From.Version, "version", "", "current `version` of the API")
	f.StringVar(&o.From.Kind, "kind", "", "current `kind` of the resource")
	f.StringVar(&o.From.Domain, "domain", "", "current `domain` of the project")
	f.StringVar(&o.To.Group, "to-group", "", "new `group`")
	f.StringVar(&o.To.Version, "to-version", "", "new `version`")
	f.StringVar(&o.To.Kind, "to-kind", "", "new `kind`")
	f.StringVar(&o.To.Domain, "to-domain", "", "new `domain` of the project")
	f.StringVar(&o.Plural, "to-plural", "", "`plural` of the new kind (default: derived from --to-kind)")
	return c
}

// fromFlags makes --from-group an alias of --group, and so on.
func fromFlags(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "from-group", "from-version", "from-kind", "from-domain":
		name = name[len("from-"):]
	}
	return pflag.NormalizedName(name)
}
