package cmd

import (
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"

	"github.com/operon-sdk/operon/cmd/internal/old"
	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/cmd/internal/words"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

// oldCommands returns the commands of operator-sdk before 1.0 that tutorials contain. They run on the current layout, print the
// command that replaced them, and are hidden in help.
func oldCommands(a *app) []*cobra.Command {
	commands := []*cobra.Command{
		newOldNew(a), newOldMigrate(a), newOldPrintDeps(a),
		a.commandGroup("add", "Add an API (now 'create api')", "  %s add api --api-version cache.example.com/v1alpha1 --kind Memcached",
			newOldAddAPI(a), newOldAddController(a), newOldAddCRD(a)),
		a.commandGroup("up", "Run the manager locally (now 'run local')", "  %s up local --namespace default", newOldUpLocal(a)),
		a.commandGroup("olm-catalog", "Generate a bundle (now 'bundle')", "  %s olm-catalog gen-csv --csv-version 0.0.1", newOldGenCSV(a)),
	}
	for _, c := range commands {
		c.Hidden = true
	}
	return commands
}

// newOld returns a command that ran under its name before operator-sdk 1.0. In the example, %[1]s stands for the program.
func newOld(a *app, use, short, long, example string, run func(c *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Long: long, Example: fmt.Sprintf(example, a.program), Args: noArgs, RunE: run}
}

// refuseRetired adds retired flags to a command, which fails if one is given.
func refuseRetired(c *cobra.Command, flags old.Retired) {
	flags.AddTo(c.Flags())
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if findings := flags.Used(c.Flags()); len(findings) > 0 {
			return findings
		}
		return run(c, args)
	}
}

// A replacement is the current command in place of an old one.
type replacement struct {
	*app
	// called is the old command.
	called *cobra.Command
}

// note prints the current command line.
func (r replacement) note(line string) {
	r.print.Notef("note: '%s' is now '%s'", r.called.CommandPath(), line)
}

// noteName prints the name of the current command.
func (r replacement) noteName(name string) { r.note(r.program + " " + name) }

// run prints and runs the current command.
func (r replacement) run(path []string, args ...string) error {
	return r.runAs(path, args, func() { r.note(words.Join(slices.Concat([]string{r.program}, path, args))) })
}

// runAs runs the current command after note.
func (r replacement) runAs(path, args []string, note func()) error {
	target, _, err := r.called.Root().Find(path)
	if err != nil {
		return err
	}
	target.InitDefaultHelpFlag()
	if err := target.ParseFlags(args); err != nil {
		return r.flagError(target, err)
	}
	if help, err := target.Flags().GetBool("help"); err == nil && help {
		return target.Help()
	}
	note()
	args = target.Flags().Args()
	if err := target.ValidateArgs(args); err != nil {
		return err
	}
	target.SetContext(r.called.Context())
	return target.RunE(target, args)
}

func newOldAddAPI(a *app) *cobra.Command {
	var o old.API
	var skip bool
	c := newOld(a, "api", "Add an API (now 'create api --controller=false')",
		`Add the types of an API, like 'create api --controller=false', under the name of that command before
operator-sdk 1.0. In a project without APIs the group sets the project's domain.`,
		`  %[1]s add api --api-version cache.example.com/v1alpha1 --kind Memcached
  %[1]s create api --group cache --version v1alpha1 --kind Memcached --resource --controller=false`,
		func(c *cobra.Command, _ []string) error {
			if err := o.Check(old.OfAdd().Used(c.Flags())); err != nil {
				return err
			}
			config, err := a.readProject(action.RecentLayouts)
			if err != nil {
				return err
			}
			group, domain, err := o.SplitGroup(config)
			if err != nil {
				return err
			}
			path, args, r := []string{"create", "api"}, o.CreateAPI(group, !skip), replacement{a, c}
			if domain == config.Domain() {
				return r.run(path, args...)
			}
			r.note(words.Join(slices.Concat([]string{a.program}, path, args)))
			a.print.Notef("note: the first API sets the project's domain, %s; use '%s init --domain' instead", domain, a.program)
			api := action.CreateAPIOptions{Domain: domain, Generate: !skip, Manifests: true}
			api.Group, api.Version, api.Kind, api.API, api.Namespaced = group, o.Version, o.Kind, true, true
			return a.runInProject(c.Context(), func(p *action.Project) (*action.Result, error) { return p.CreateAPI(c.Context(), api) })
		})
	o.AddTo(c.Flags())
	c.Flags().BoolVar(&skip, "skip-generation", false, "skip the generated code and manifests")
	old.OfAdd().AddTo(c.Flags())
	return c
}

func newOldAddController(a *app) *cobra.Command {
	var o old.API
	var types string
	c := newOld(a, "controller", "Add a controller (now 'create api --resource=false')",
		`Add a controller for an API of the project, of Kubernetes or of another module, like 'create api
--resource=false', under the name of that command before operator-sdk 1.0.`,
		`  %[1]s add controller --api-version cache.example.com/v1alpha1 --kind Memcached
  %[1]s create api --group cache --version v1alpha1 --kind Memcached --resource=false --controller`,
		func(c *cobra.Command, _ []string) error {
			if err := o.Check(old.OfAdd().Used(c.Flags())); err != nil {
				return err
			}
			config, err := a.readProject(action.RecentLayouts)
			if err != nil {
				return err
			}
			args, err := o.CreateController(config, types)
			if err != nil {
				return err
			}
			return replacement{a, c}.run([]string{"create", "api"}, args...)
		})
	o.AddTo(c.Flags())
	c.Flags().StringVar(&types, "custom-api-import", "", "import `path` of types from another module, followed by =identifier")
	old.OfAdd().AddTo(c.Flags())
	return c
}

func newOldAddCRD(a *app) *cobra.Command {
	c := newOld(a, "crd", "Generate CRDs (now 'generate manifests')",
		"Generate the CRDs of the project's API types, like 'generate manifests'; 'create api' writes the sample.",
		"  %s generate manifests",
		func(c *cobra.Command, _ []string) error {
			return replacement{a, c}.run([]string{"generate", "manifests"})
		})
	new(old.API).AddTo(c.Flags())
	refuseRetired(c, old.OfAdd())
	return c
}

func newOldGenCSV(a *app) *cobra.Command {
	var o old.CSV
	c := newOld(a, "gen-csv", "Generate a bundle (now 'bundle')",
		`Generate the ClusterServiceVersion of a version with the other manifests, like 'bundle', under the
name of that command before operator-sdk 1.0. It is written to bundle/manifests; 'generate
packagemanifests' writes the directories that deploy/olm-catalog had.`,
		`  %[1]s olm-catalog gen-csv --csv-version 0.0.2 --from-version 0.0.1 --csv-channel alpha
  %[1]s bundle --version 0.0.2 --replaces memcached-operator.v0.0.1 --channels alpha`,
		func(c *cobra.Command, _ []string) error {
			if err := o.Check(old.OfCSV().Used(c.Flags())); err != nil {
				return err
			}
			root, err := a.intactProject()
			if err != nil {
				return err
			}
			config, err := project.Load(a.FS, root, a.Facts()...)
			if err != nil {
				return err
			}
			return replacement{a, c}.run([]string{"bundle"}, o.Bundle(config.ProjectName(), c.Flags())...)
		})
	o.AddTo(c.Flags())
	return c
}

// newOldMigrate returns the command migrate, which added Go source to Ansible and Helm operators. It runs upgrade, which migrates
// projects of other layouts.
func newOldMigrate(a *app) *cobra.Command {
	c := newOld(a, "migrate", "Upgrade the project (now 'upgrade')",
		`Upgrade a Go project of another layout to the current one, like 'upgrade'. Before operator-sdk 1.0,
migrate added Go source to Ansible and Helm operators. Today, start a Go project and add the charts
with 'create api --helm-chart'.`, "  %s upgrade",
		func(c *cobra.Command, _ []string) error { return replacement{a, c}.run([]string{"upgrade"}) })
	refuseRetired(c, old.OfMigrate())
	return c
}

// newOldPrintDeps returns the command print-deps, which prints the modules that a new project requires.
func newOldPrintDeps(a *app) *cobra.Command {
	var file bool
	c := newOld(a, "print-deps", "Print the modules that a new project requires",
		`Print the modules that the go.mod of a new project requires, with their versions. In a project, the
go command lists those that it requires.`,
		"  %s print-deps --as-file\n  go list -m all",
		func(c *cobra.Command, _ []string) error {
			rendered, err := scaffold.Render("init", scaffold.Data{
				Project:  scaffold.Project{Name: "operator", Domain: provisionalDomain, Repo: "example.com/operator", CLIName: a.program},
				Versions: scaffold.Pinned(),
			})
			if err != nil {
				return err
			}
			replacement{a, c}.note("go list -m all")
			if file {
				_, err := a.Out.Write(rendered.Files["go.mod"])
				return err
			}
			mod, err := modfile.Parse("go.mod", rendered.Files["go.mod"], nil)
			if err != nil {
				return err
			}
			table := tabwriter.NewWriter(a.print.TextOut(), 0, 0, 2, ' ', 0)
			for _, r := range mod.Require {
				if !r.Indirect {
					fmt.Fprintln(table, output.Row(r.Mod.Path, r.Mod.Version))
				}
			}
			return table.Flush()
		})
	c.Flags().BoolVar(&file, "as-file", false, "print them as a go.mod file, including the modules of tests and tools")
	refuseRetired(c, old.OfPrintDeps())
	return c
}
