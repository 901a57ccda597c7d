package cmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/reshape"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/upgrade"
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
		Long: `Upgrade a project that operator-sdk, kubebuilder or an older Operon scaffolded to what Operon
scaffolds now: Makefile, Dockerfile, main.go, manifests, workflows, end-to-end tests, and the Go
version and requirements of go.mod. Modules that are missing from the module cache are downloaded
before anything is changed, unless --offline is given. No version control is needed.

The release that scaffolded the project is identified by what its files state, and each file is merged
against it: YAML by field and item, Go by statement, Makefiles by rule. What you changed, moved,
removed, or commented in or out stays so. Types, controllers, webhooks and their tests are yours and
keep every byte, but for calls that a new controller-runtime wants otherwise. Files in which a merge
would be a guess stay as they are; --diff FILE shows how one differs from the current scaffold.

Every kustomization that can be built before can be built afterwards; otherwise the manifests stay as
they are. Code that compiles before compiles afterwards: where the new requirements would break it,
go.mod, Go code and the manifests stay as they are, and the errors are printed. --force upgrades them
nevertheless.

Projects of the layouts go/v2 and go/v3 move to go/v4: main.go to cmd, controllers to
internal/controller, apis to api, with the files of yours that are there. Imports, relative paths and
scripts follow in all of the module. PROJECT files of version 2 and 3-alpha are converted.

Webhooks that are set up beside the types move to internal/webhook with their markers and tests. The
types' own methods stay, and the new webhooks call them.

Where you and the scaffold have changed the same unit, such as a statement, the file holds both,
between conflict markers, and the command lists those files and fails; --conflict decides for one
side instead. Values, and rules that you wrote anew, simply stay yours. Running it again changes nothing.`,
		Example: fmt.Sprintf(`  # What would be done, file by file; fails if that is anything, for CI:
  %[1]s upgrade --check

  # As a diff, then for real:
  %[1]s upgrade --dry-run
  %[1]s upgrade

  # Keep your lines wherever both have changed:
  %[1]s upgrade --conflict ours

  # Compare a file of yours with the current scaffold:
  %[1]s upgrade --diff config/manager/manager.yaml

  # When the release that scaffolded the project is not identified:
  %[1]s upgrade --from operator-sdk-1.42`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runUpgrade(c, o) },
	}
	f := c.Flags()
	a.addOffline(f)
	f.StringVar(&o.from, "from", "", "`release` that scaffolded the project: operator-sdk-1.42, kubebuilder-4.15, or a version of either (default: detected)")
	f.StringVar(&o.to, "to", "", "target `version` of Operon; must be this binary's version")
	f.BoolVar(&o.check, "check", false, "list what is behind, file by file, and write nothing; fail if there is anything")
	f.StringVar(&o.conflict, "conflict", "", "`side` that decides conflicts: ours for the project's lines, theirs for the scaffold's")
	f.StringVar(&o.diff, "diff", "", "print how a `file` of the project differs from the current scaffold, and change nothing")
	f.BoolVar(&o.force, "force", false, "upgrade although kustomizations or code no longer build then")
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
	err = a.apply(c.Context(), root, func(tree *scaffold.Tree) error {
		result, err = a.upgrade(c.Context(), tree, known, o)
		return err
	})
	if err != nil {
		return err
	}
	return a.printUpgraded(result)
}

// scaffolds validates the flags together and gives the scaffolds that the project may come from.
func (o *upgradeOptions) scaffolds() (*upgrade.Fingerprints, error) {
	known, err := upgrade.ReadFingerprints()
	if err != nil {
		return nil, err
	}
	var findings project.Findings
	if o.from != "" {
		only := known.Named(o.from)
		if only == nil {
			var names []string
			for _, s := range known.Releases() {
				names = append(names, s.Tool+"-"+s.Version)
			}
			findings = append(findings, project.Finding{Field: "--from", Value: o.from,
				Problem: "is no scaffold that is known; there are " + strings.Join(uniqueSorted(names), ", ")})
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
	tree := scaffold.NewTree(a.FS, root)
	config, err := loadAnyProject(tree)
	if err != nil {
		return err
	}
	header, err := a.boilerplate(tree)
	if err != nil {
		return err
	}
	if _, err := reshape.ToV4(tree, config); err != nil {
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
	_, err = io.WriteString(a.Out, scaffold.Diff([]scaffold.Change{{Path: name, Old: ours, New: text}}))
	return err
}
