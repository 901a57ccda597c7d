package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// renameAPIOptions are the flags of rename api.
type renameAPIOptions struct {
	// from are the names of now, to the new ones; empty where not given.
	from, to project.GVK
	// plural is that of the new kind, empty for the regular one.
	plural string
}

func newRenameAPI(a *app) *cobra.Command {
	var o renameAPIOptions
	c := &cobra.Command{
		Use:   "api",
		Short: "Rename a kind, group, version or the domain",
		Long: `Rename an API everywhere in the project: Go types, functions and variables that belong to it,
imports, package and file names, markers, PROJECT, CRDs, roles, samples, kustomizations, the base of
the bundle, and the scaffold's texts and tests. An API without manual edits is byte for byte as if
it had been created with the new name.

--group, --version, --kind and --domain name the current API; --from-group and so on mean the same.
They can be left out where the project has only one. All versions of a kind share its name, all
kinds of a group its directory and all kinds of a version its package, so these change together; the
domain is that of the whole project.

The code must compile before and after the change, and every name must refer to the same declaration
as before. Otherwise nothing is changed. Your own texts that contain an old name, such as strings in
code, are listed for you to change.`,
		Example: fmt.Sprintf(`  # Another kind, in all its versions:
  %[1]s rename api --group cache --kind Memcached --to-kind Cachet

  # Another group and version at once:
  %[1]s rename api --group cache --version v1alpha1 --to-group store --to-version v1beta1

  # Another domain for all groups of the project:
  %[1]s rename api --to-domain example.org

  # Show what would change:
  %[1]s rename api --kind Memcached --to-kind Cachet --dry-run`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runRenameAPI(c, o) },
	}
	f := c.Flags()
	a.addOffline(f)
	a.addOutput(c, textOutput, jsonOutput)
	f.SetNormalizeFunc(fromFlags)
	f.StringVar(&o.from.Group, "group", "", "current `group` of the API, without the project's domain")
	f.StringVar(&o.from.Version, "version", "", "current `version` of the API")
	f.StringVar(&o.from.Kind, "kind", "", "current `kind` of the resource")
	f.StringVar(&o.from.Domain, "domain", "", "current `domain` of the project")
	f.StringVar(&o.to.Group, "to-group", "", "new `group`")
	f.StringVar(&o.to.Version, "to-version", "", "new `version`")
	f.StringVar(&o.to.Kind, "to-kind", "", "new `kind`")
	f.StringVar(&o.to.Domain, "to-domain", "", "new `domain` of the project")
	f.StringVar(&o.plural, "to-plural", "", "`plural` of the new kind (default: derived from --to-kind)")
	return c
}

// fromFlags lets --from-group mean --group, and so on.
func fromFlags(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "from-group", "from-version", "from-kind", "from-domain":
		name = name[len("from-"):]
	}
	return pflag.NormalizedName(name)
}

func (a *app) runRenameAPI(c *cobra.Command, o renameAPIOptions) error {
	if o.to == (project.GVK{}) && o.plural == "" {
		return usagef(c, "nothing to rename; give --to-kind, --to-group, --to-version, --to-domain or --to-plural")
	}
	return a.runRename(c, renaming{
		check: func(_ *worktree.Tree, config *project.Config) error {
			_, err := o.resolve(config)
			return err
		},
		change: func(config *project.Config) error {
			renamed, err := o.resolve(config)
			if err != nil {
				return err
			}
			return renamed.record(config)
		},
		bundled: true,
		notes:   []string{o.note()},
	})
}

// note says what clusters have of the old names.
func (o renameAPIOptions) note() string {
	if o.to.Group+o.to.Kind+o.to.Domain+o.plural == "" {
		return "a cluster whose CRD has the old version keeps objects in it; it takes the new CRD once they are stored in another version of both, or the old CRD is deleted with them"
	}
	return "objects in clusters are not touched: those of the old name stay, under a CRD that nothing serves; save and create them again by the new name"
}
