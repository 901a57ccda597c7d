package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/codegen/calls"
	"github.com/operon-sdk/operon/pkg/local"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// manifestGenerators generate the files below config, and apply configurations like the manifests target of Makefiles.
const manifestGenerators = codegen.CRD | codegen.RBAC | codegen.Webhook | codegen.ApplyConfiguration

func newGenerate(a *app) *cobra.Command {
	var check, watch, fix bool
	command := func(use, short, long, example string, what codegen.Generators) *cobra.Command {
		c := &cobra.Command{
			Use:     use,
			Short:   short,
			Long:    long,
			Example: example,
			Args:    noArgs,
			RunE: func(c *cobra.Command, _ []string) error {
				root, err := a.ProjectRoot()
				if err != nil {
					return err
				}
				config := a.actions()
				config.Fix, config.DryRun = fix, config.DryRun || check
				generate := func(ctx context.Context) error {
					return a.runAt(ctx, config, root, func(p *action.Project) error {
						result, err := p.Generate(ctx, what)
						if check {
							return a.print.Checked(result, err, otherVersion(result)+fmt.Sprintf("run '%s generate' and commit what it changes", a.program))
						}
						return a.print.Generated(result, err)
					})
				}
				switch {
				case watch && (check || a.dryRun || a.print.Structured()):
					return usagef(c, "--watch writes at every change: leave out --check, --dry-run and --output")
				case watch:
					return a.watchGenerated(c.Context(), root, generate)
				}
				return generate(c.Context())
			},
		}
		a.addOffline(c.Flags())
		a.addOutput(c, output.Text, output.JSON, output.SARIF)
		c.Flags().BoolVar(&check, "check", false, "write nothing; exit with 1 and print a diff if generated files are stale (for CI)")
		c.Flags().BoolVar(&fix, "fix", false, "move package-level markers, such as RBAC markers, to where they take effect, and list CRDs in kustomizations")
		c.Flags().BoolVar(&watch, "watch", false, "generate again after every change, until interrupted")
		return c
	}
	c := command("generate", "Generate code and manifests from the types and markers",
		`Generate the deepcopy methods of the API types, their CRDs, the RBAC role and the webhook
configurations. Files that are up to date are not written.

Roles from RBAC markers with namespace= or roleName= are bound to the manager's service account, in
their namespaces, unless you bind them yourself.

In a Helm project, generate the CRDs and the role from the charts, in an Ansible project from the
roles and playbooks, and in a Go project with charts from both. Rules that you added outside the
generated block are kept.

Operon generates what the project's own controller-gen calls would: calls in the Makefile targets
manifests and generate, or else in go:generate lines, or else in scripts in hack, or else the
scaffolded ones. --verbose lists the calls and where they are. Commands that change generated files
afterwards, such as sed and yq, aren't run; a note names each of them.

To use other calls, write them to .operon/config.yaml:

  generate:
    calls:
    - args: >-
        rbac:roleName=manager-role crd:maxDescLen=0 paths=./...
        output:crd:dir=config/crd/bases
    - args: object:headerFile=../hack/boilerplate.go.txt,year=2026 paths=./...
      dir: api  # the base of paths in args (default: the project's directory)`,
		fmt.Sprintf(`  # After changing types or markers:
  %[1]s generate

  # While editing types:
  %[1]s generate --watch

  # In CI, fail if generated files are stale:
  %[1]s generate --check`, a.program), codegen.All)
	c.AddCommand(
		command("code", "Generate the deepcopy methods of the API types",
			"Generate zz_generated.deepcopy.go in the packages of the API types, like 'make generate'.",
			fmt.Sprintf("  %s generate code", a.program), codegen.Object),
		command("manifests", "Generate CRDs, RBAC and webhook manifests",
			"Generate CRDs, the RBAC role and webhook configurations below config, like 'make manifests'.",
			fmt.Sprintf("  %s generate manifests", a.program), manifestGenerators),
		newGenerateBundle(a),
		newGenerateCatalog(a),
		newGenerateChart(a),
		newGenerateKustomize(a),
		newGeneratePackageManifests(a),
	)
	c.AddCommand(oldGenerate(a, command)...)
	return c
}

// otherVersion explains that files are out of date because another version of controller-gen generated them. It returns "" otherwise.
func otherVersion(result *action.Result) string {
	if result == nil {
		return ""
	}
	other := codegen.OtherVersion{Only: true}
	for _, change := range result.Changes {
		other.Add(change.Old, change.New)
	}
	if len(other.Old) == 0 {
		return ""
	}
	what := "some CRDs also come from another version of controller-gen"
	if other.Only {
		what = "only the version of controller-gen differs"
	}
	return fmt.Sprintf("%s (%s in the files, %s in this Operon); ", what, strings.Join(other.Old, ", "), other.New)
}

// watchGenerated generates after every change, until it is interrupted. After an error it waits for the next change.
func (a *app) watchGenerated(ctx context.Context, root string, generate func(context.Context) error) error {
	ctx, stop := env.UntilInterrupted(ctx)
	defer stop()
	if _, err := a.at(root).Load(action.ScaffoldedLayouts); err != nil {
		return err
	}
	watch, err := a.watch(root)
	if err != nil {
		return err
	}
	for {
		if err := generate(ctx); err != nil && ctx.Err() == nil {
			a.report(err)
		}
		a.print.Progressf("waiting for changes; press Ctrl-C to stop")
		changed, err := watch.Next(ctx)
		if ctx.Err() != nil {
			return nil // the user ends the command so
		}
		if err != nil {
			return err
		}
		a.print.Progressf("changed: %s", strings.Join(changed, ", "))
	}
}

// watch returns a watch of the sources of a project, without the manifests that are generated.
func (a *app) watch(root string) (*local.Watch, error) {
	found, err := calls.Find(worktree.NewTree(a.FS, root))
	if err != nil {
		return nil, err
	}
	config, err := project.Load(a.FS, root, a.Facts()...)
	if err != nil {
		return nil, err
	}
	isSource := local.Sources(config.Facts())
	isManifest := codegen.ManifestMatcher(found.Calls)
	return local.NewWatch(root, func(name string) bool { return isSource(name) && name != project.ChartsRoleFile && !isManifest(name) })
}
