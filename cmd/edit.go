package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// editOptions are the flags of edit.
type editOptions struct {
	multigroup, namespaced      bool
	license, licenseFile, owner string
	force, noVerify             bool
	// given tells which flags were on the command line.
	given map[string]bool
}

func newEdit(a *app) *cobra.Command {
	var o editOptions
	c := &cobra.Command{
		Use:   "edit",
		Short: "Change the project's layout, scope or license header",
		Long: `Change settings of the whole project, including its code and manifests.

--multigroup moves APIs, controllers and webhooks into one directory per group and updates all
references: imports, relative paths, PROJECT, role files, kustomizations, Makefile and Dockerfile.
--multigroup=false moves them back while the project has one group. The code must compile before and
after the move; otherwise nothing is changed. --no-verify skips these checks. If a file is in the
way of another, it is named and nothing is changed. The rest of your files is kept byte for byte.

--namespaced makes the manager watch one namespace, with Roles instead of ClusterRoles;
--namespaced=false reverts to the whole cluster. Your changes to these files are kept: the
scaffold's change is merged into each file. Where you edited the same lines, the change to make by
hand is printed and nothing is changed; with --force everything else is changed, and the list is
left to you.

--license, --license-file and --owner replace the header of all Go files that have the current one,
and the header file: hack/boilerplate.go.txt, unless controller-gen is called with another one.`,
		Example: fmt.Sprintf(`  # Before adding an API of another group:
  %[1]s edit --multigroup

  # A manager for one namespace, and back:
  %[1]s edit --namespaced
  %[1]s edit --namespaced=false

  # Another license and owner in the headers:
  %[1]s edit --license apache2 --owner "Example Inc."

  # Show what would change:
  %[1]s edit --multigroup --dry-run`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runEdit(c, o) },
	}
	f := c.Flags()
	a.addOffline(f)
	a.addOutput(c, textOutput, jsonOutput)
	f.BoolVar(&o.multigroup, "multigroup", false, "move APIs to api/<group>/<version>; =false reverts to the layout for one group")
	f.BoolVar(&o.namespaced, "namespaced", false, "watch one namespace, with Roles instead of ClusterRoles; =false watches the whole cluster")
	f.StringVar(&o.license, "license", "", "license header of Go files")
	f.StringVar(&o.licenseFile, "license-file", "", "`file` with the header, a Go comment; takes precedence over --license")
	f.StringVar(&o.owner, "owner", "", "copyright `owner` in the license header")
	f.BoolVar(&o.force, "force", false, "with --namespaced, leave edited lines to be changed by hand")
	f.BoolVar(&o.noVerify, "no-verify", false, "with --multigroup, move the code without compiling it first")
	a.addPlugins(f, "`layout` of the project; only go/v4 is supported")
	completeValues(c, "license", "apache2", "mit", "copyright", "none")
	completeValues(c, "plugins", "go/v4")
	return c
}

func (a *app) runEdit(c *cobra.Command, o editOptions) error {
	root, config, done, err := a.begin(c.Context())
	if done || err != nil {
		return err
	}
	o.given = map[string]bool{}
	for _, name := range []string{"multigroup", "namespaced", "license", "license-file", "owner"} {
		if c.Flags().Changed(name) {
			o.given[name] = true
		}
	}
	if len(o.given) == 0 {
		if _, findings := project.CheckPlugins(a.plugins); len(findings) > 0 {
			return findings
		}
		return usagef(c, "nothing to edit; give --multigroup, --namespaced, --license, --license-file or --owner")
	}
	if err := a.checkEdit(config, o).Err(); err != nil {
		return err
	}
	var notes []string
	err = a.apply(c.Context(), root, func(tree *worktree.Tree) error {
		notes, err = a.edit(c.Context(), tree, o)
		return err
	})
	if err != nil {
		return err
	}
	for _, note := range notes {
		a.notef("to be changed by hand: %s", note)
	}
	if len(a.result.changes) == 0 {
		a.progressf("the project is that way already, nothing was changed")
	} else if !a.dryRun {
		a.nextf("review what changed, then 'make test'")
	}
	return nil
}

// checkEdit validates all flags together.
func (a *app) checkEdit(config *project.Config, o editOptions) project.Findings {
	plugins, findings := project.CheckPlugins(a.plugins)
	if plugins.DeployImage {
		findings = append(findings, project.Finding{
			Field: "--plugins", Value: "deploy-image/v1-alpha", Problem: "belongs to create api, as does --image; leave it out here",
		})
	}
	if o.given["license"] || o.given["license-file"] || o.given["owner"] {
		license := o.license
		if !o.given["license"] {
			license = "apache2" // only --license is wrong about it
		}
		findings = append(findings, a.checkHeader(initOptions{license: license, licenseFile: o.licenseFile, owner: o.owner})...)
	}
	if o.given["namespaced"] && o.namespaced {
		for _, r := range config.Resources() {
			if r.HasAPI() && !r.API.Namespaced {
				findings = append(findings, project.Finding{Field: "--namespaced", Value: "true",
					Problem: fmt.Sprintf("kind %s of %s/%s is cluster-scoped, and Roles of one namespace do not reach it", r.Kind, r.QualifiedGroup(), r.Version)})
			}
		}
	}
	if o.noVerify && !o.given["multigroup"] {
		findings = append(findings, project.Finding{Field: "--no-verify", Value: "true", Problem: "is only valid with --multigroup"})
	}
	return findings
}

// edit makes all changes in the tree, generated files included. It returns what is left to a person.
func (a *app) edit(ctx context.Context, tree *worktree.Tree, o editOptions) ([]string, error) {
	config, err := loadProject(tree)
	if err != nil {
		return nil, err
	}
	if err := a.checkEdit(config, o).Err(); err != nil {
		return nil, err
	}
	header, headerFile, err := a.at(tree.Root()).Header(tree)
	if err != nil {
		return nil, err
	}
	options := refactor.Options{Go: a.goTool(), NoVerify: o.noVerify, Header: header, Program: a.program}
	var notes []string
	if o.given["namespaced"] {
		notes, err = a.rescope(ctx, tree, config, options, o)
		if err != nil {
			return nil, err
		}
	}
	if o.given["multigroup"] {
		if err := refactor.SetMultigroup(ctx, tree, config, o.multigroup, options); err != nil {
			return nil, err
		}
		for _, r := range config.Resources() {
			if !r.HasAPI() {
				continue
			}
			if err := scaffold.MoveApply(tree, config.Repo(), strings.TrimPrefix(r.Path, config.Repo()+"/")); err != nil {
				return nil, err
			}
		}
	}
	if o.given["license"] || o.given["license-file"] || o.given["owner"] {
		if headerFile == "" {
			headerFile = action.DefaultHeaderFile
		}
		text, err := readOptional(tree, headerFile) // header with YEAR
		if err != nil {
			return nil, err
		}
		next, err := a.newHeader(action.NormalizeHeader(text), o)
		if err != nil {
			return nil, err
		}
		if err := refactor.ReplaceHeader(tree, headerFile, action.NormalizeHeader(text), next, a.year()); err != nil {
			return nil, err
		}
	}
	tree.WriteFile(project.FileName, config.Bytes(), 0o644)
	if _, err := scaffold.UpdateRequirements(tree); err != nil {
		return nil, err
	}
	if changes, err := tree.Changes(); err != nil || len(changes) == 0 {
		return notes, err
	}
	if err := a.vendor(ctx, tree); err != nil {
		return nil, err
	}
	return notes, a.generate(ctx, tree, codegen.All)
}

// newHeader is the header that the flags ask for. What they leave open is that of the present one.
func (a *app) newHeader(header string, o editOptions) (string, error) {
	if o.licenseFile != "" {
		return a.readGiven(o.licenseFile)
	}
	notice := refactor.Copyright(header)
	license := o.license
	if !o.given["license"] {
		for _, known := range []string{"apache2", "mit", "copyright", "none"} {
			text, err := scaffold.LicenseHeader(known, notice)
			if err != nil {
				return "", err
			}
			if strings.TrimSpace(text) == header {
				license = known
			}
		}
		if license == "none" {
			license = "copyright"
		}
		if license == "" {
			return "", project.Findings{{Field: "--owner", Value: o.owner, Problem: "needs --license too, as the present header is none that init writes"}}
		}
	}
	if o.given["owner"] {
		var year string
		if strings.Contains(header, " YEAR") {
			year = "YEAR"
		}
		notice = copyright(o.owner, year)
	}
	return scaffold.LicenseHeader(license, notice)
}

// rescope turns the manager to one namespace or back. Places to be changed by hand are an error, unless
// --force leaves them to the person.
func (a *app) rescope(ctx context.Context, tree *worktree.Tree, config *project.Config, options refactor.Options, o editOptions) ([]string, error) {
	var recorded []scaffold.Data
	for _, r := range config.Resources() {
		recorded = append(recorded, a.recordedData(config, r, options.Header)...)
	}
	before, err := refactor.ReadCode(tree)
	if err != nil {
		return nil, err
	}
	notes, err := refactor.SetScope(tree, before, config, o.namespaced, recorded, options)
	if err != nil {
		return nil, err
	}
	broken, err := refactor.NewErrors(ctx, tree, before, a.goTool())
	if err != nil {
		return nil, err
	}
	if len(broken) > 0 && len(notes) == 0 {
		return nil, fmt.Errorf("with the scaffold's changes merged in, code that was edited would not compile, nothing was written:\n%w", broken)
	}
	if len(notes) == 0 || o.force {
		for _, f := range broken {
			notes = append(notes, f.Error())
		}
		return notes, nil
	}
	return nil, &scaffold.ContentError{Err: fmt.Errorf(
		"these places were edited and cannot be changed for you, nothing was written:\n  %s\nchange them by hand afterwards: --force does all the rest",
		strings.ReplaceAll(strings.Join(notes, "\n"), "\n", "\n  "))}
}
