package cmd

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
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
		Short: "Give a kind, group, version or the domain another name",
		Long: `Rename an API wherever the project names it: Go types, functions and variables by what they
stand for, imports, package and file names, markers, PROJECT, CRDs, roles, samples, kustomizations,
the base of the bundle, and the scaffold's texts and tests. An API that nobody edited comes out
byte for byte as if it had been created by the new name.

--group, --version, --kind and --domain say what is there now; --from-group and so on mean the same.
They may be left out where the project has one only. All versions of a kind share its name, all
kinds of a group its folder and all kinds of a version its package, so these change together;
the domain is that of the whole project.

The code must compile, and is checked again as it will be: it must compile by the new names, and
everything must stand for what it stood for before. Otherwise nothing is changed. Your own texts
that say an old name are listed and left to you, such as strings in code.`,
		Example: fmt.Sprintf(`  # Another kind, in all its versions:
  %[1]s rename api --group cache --kind Memcached --to-kind Cachet

  # Another group and version at once:
  %[1]s rename api --group cache --version v1alpha1 --to-group store --to-version v1beta1

  # Another domain for all groups of the project:
  %[1]s rename api --to-domain example.org

  # See what would change:
  %[1]s rename api --kind Memcached --to-kind Cachet --dry-run`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runRenameAPI(c, o) },
	}
	f := c.Flags()
	a.addOffline(f)
	f.SetNormalizeFunc(fromFlags)
	f.StringVar(&o.from.Group, "group", "", "`group` of the API now, without the project's domain")
	f.StringVar(&o.from.Version, "version", "", "`version` of the API now")
	f.StringVar(&o.from.Kind, "kind", "", "`kind` of the resource now")
	f.StringVar(&o.from.Domain, "domain", "", "`domain` of the project now")
	f.StringVar(&o.to.Group, "to-group", "", "`group` that it is to have")
	f.StringVar(&o.to.Version, "to-version", "", "`version` that it is to have")
	f.StringVar(&o.to.Kind, "to-kind", "", "`kind` that it is to have")
	f.StringVar(&o.to.Domain, "to-domain", "", "`domain` that the project is to have")
	f.StringVar(&o.plural, "to-plural", "", "`plural` of the new kind, where it is not the regular one")
	for _, name := range []string{"group", "version", "kind"} {
		a.completeNames(c, name)
	}
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

// completeNames offers the names that the project has.
func (a *app) completeNames(c *cobra.Command, flag string) {
	complete := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		root, err := a.projectRoot()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		config, err := project.Load(a.FS, root)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, r := range config.Resources() {
			names = append(names, map[string]string{"group": r.Group, "version": r.Version, "kind": r.Kind}[flag])
		}
		slices.Sort(names)
		return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
	}
	// The flag is there, and has no other completion.
	_ = c.RegisterFlagCompletionFunc(flag, complete)
}

func (a *app) runRenameAPI(c *cobra.Command, o renameAPIOptions) error {
	if o.to == (project.GVK{}) && o.plural == "" {
		return usagef(c, "nothing to rename; give --to-kind, --to-group, --to-version, --to-domain or --to-plural")
	}
	return a.runRename(c, renaming{
		check: func(_ *scaffold.Tree, config *project.Config) error {
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
