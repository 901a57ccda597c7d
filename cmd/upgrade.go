package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/migrate"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// upgradeOptions are the flags of upgrade.
type upgradeOptions struct {
	from, to, conflict, diff string
	check, force             bool
}

func newUpgrade(a *app) *cobra.Command {
	var o upgradeOptions
	c := &cobra.Command{
		Use:   "upgrade",
		Short: "Upgrade the project to the current scaffold",
		Long: `Upgrade a project that operator-sdk, kubebuilder or an older Operon scaffolded to the current
scaffold: Makefile, Dockerfile, main.go, manifests, workflows, end-to-end tests, and the Go version
and requirements of go.mod. Modules that are missing from the module cache are downloaded before
anything is changed, unless --offline is given. No version control is needed.

The release that scaffolded the project is detected from its files, and each file is merged against
it: YAML by field and item, Go by statement, Makefiles by rule. What you changed, moved, removed, or
commented in or out is kept. Types, controllers, webhooks and their tests are yours and kept byte
for byte, except for calls that a new controller-runtime requires to change. Files whose merge would
be a guess do not change; --diff FILE shows how one differs from the current scaffold.

Every kustomization that builds before also builds afterwards; otherwise the manifests do not
change. Code that compiles before compiles afterwards: if the new requirements would break it,
go.mod, Go code and the manifests do not change, and the errors are printed. --force upgrades them
nevertheless.

Projects with the layouts go/v2 and go/v3 are converted to go/v4: main.go moves to cmd, controllers
to internal/controller, and apis to api, together with your files in these directories. Imports,
relative paths and scripts of the module are updated. PROJECT files of version 2 and 3-alpha are
converted.

Webhooks that are set up in the API packages move to internal/webhook with their markers and tests.
The methods of the types are kept, and the new webhooks call them.

Where you and the scaffold changed the same unit, such as a statement, the file contains both
between conflict markers, and the command lists those files and fails; --conflict decides for one
side instead. Values, and rules that you rewrote, are kept. Running the command again changes
nothing.`,
		Example: fmt.Sprintf(`  # List the files to upgrade; fail if there are any, for CI:
  %[1]s upgrade --check

  # Show the changes as a diff, then apply them:
  %[1]s upgrade --dry-run
  %[1]s upgrade

  # Keep your lines where both sides changed:
  %[1]s upgrade --conflict ours

  # Compare one of your files with the current scaffold:
  %[1]s upgrade --diff config/manager/manager.yaml

  # If the release that scaffolded the project is not detected:
  %[1]s upgrade --from operator-sdk-1.42`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runUpgrade(c, o) },
	}
	f := c.Flags()
	a.addOffline(f)
	a.addOutput(c, textOutput, jsonOutput)
	f.StringVar(&o.from, "from", "", "`release` that scaffolded the project: operator-sdk-1.42, kubebuilder-4.15, or a version of either (default: detected)")
	f.StringVar(&o.to, "to", "", "target `version` of Operon; must be this binary's version")
	f.BoolVar(&o.check, "check", false, "write nothing; list the files to upgrade and exit with 1 if there are any (for CI)")
	f.StringVar(&o.conflict, "conflict", "", "side that decides conflicts: the project's lines (ours) or the scaffold's (theirs)")
	f.StringVar(&o.diff, "diff", "", "print how a `file` of the project differs from the current scaffold, and change nothing")
	f.BoolVar(&o.force, "force", false, "upgrade even if kustomizations or code no longer build")
	completeValues(c, "conflict", "ours", "theirs")
	completeValues(c, "from", "operator-sdk-1.42", "kubebuilder-4.15", "kubebuilder-3.15")
	completeValues(c, "to", buildVersion().Version)
	return c
}

func (a *app) runUpgrade(c *cobra.Command, o upgradeOptions) error {
	root, _, done, err := a.beginWith(c.Context(), loadAnyProject)
	if done || err != nil {
		return err
	}
	known, err := o.scaffolds()
	if err != nil {
		return err
	}
	if o.diff != "" {
		return a.diffScaffold(root, o.diff)
	}
	if o.check {
		return a.checkUpgrade(c.Context(), root, known, o)
	}
	var result *upgraded
	err = a.applyOverConflicts(c.Context(), root, func(tree *worktree.Tree) error {
		result, err = a.upgrade(c.Context(), tree, known, o)
		return err
	})
	if err != nil {
		return err
	}
	return a.printUpgraded(result)
}

// scaffolds validates the flags together and gives the scaffolds that the project may come from.
func (o *upgradeOptions) scaffolds() (*migrate.Fingerprints, error) {
	known, err := migrate.ReadFingerprints()
	if err != nil {
		return nil, err
	}
	var findings project.Findings
	if o.from != "" {
		only := known.Named(o.from)
		if only == nil {
			findings = append(findings, project.Finding{Field: "--from", Value: o.from,
				Problem: "unknown release; the nearest are " + strings.Join(known.Near(o.from), ", ")})
		}
		known = only
	}
	if version := buildVersion().Version; o.to != "" && strings.TrimPrefix(o.to, "v") != strings.TrimPrefix(version, "v") {
		findings = append(findings, project.Finding{Field: "--to", Value: o.to,
			Problem: fmt.Sprintf("this program writes the scaffold of its own version, %s; use the Operon of the version that you want", version)})
	}
	if _, ok := conflictSides()[o.conflict]; !ok {
		findings = append(findings, project.Finding{Field: "--conflict", Value: o.conflict, Problem: "must be ours or theirs"})
	}
	return known, findings.Err()
}

func conflictSides() map[string]merge.Side {
	return map[string]merge.Side{"": merge.Markers, "ours": merge.Ours, "theirs": merge.Theirs}
}

// diffScaffold prints how a file differs from the one that the current scaffold writes for the project.
func (a *app) diffScaffold(root, name string) error {
	tree := worktree.NewTree(a.FS, root)
	config, err := loadAnyProject(tree)
	if err != nil {
		return err
	}
	header, err := a.boilerplate(tree)
	if err != nil {
		return err
	}
	if _, err := refactor.MoveToV4(tree, config); err != nil {
		return err
	}
	current, err := a.currentFiles(config, header, true)
	if err != nil {
		return err
	}
	given := name
	if rel, err := filepath.Rel(root, a.absolute(name)); err == nil {
		name = filepath.ToSlash(rel)
	}
	text, ok := current[name]
	if !ok {
		return project.Findings{{Field: "--diff", Value: given, Problem: "is not a file that the scaffold writes"}}.Err()
	}
	ours, err := tree.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return a.printDiff([]worktree.Change{{Path: name, Old: ours, New: text}})
}
