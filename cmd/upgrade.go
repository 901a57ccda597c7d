package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/modernize"
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

// upgraded is what came of an upgrade.
type upgraded struct {
	files   *upgrade.Result
	changes []scaffold.Change
	// untidy is what keeps go.mod from being tidied, nil if nothing does.
	untidy *gotool.Error
	// invalid is what keeps code and manifests from being generated, broken what keeps the code from compiling.
	invalid, broken codegen.Findings
	// obstacle is why go.mod and the code stay as they are, nil if they do not.
	obstacle *obstacle
	// losses is what the project's kustomizations no longer build.
	losses []upgrade.Loss
	// notes are about code that the user has to look at, though it may compile.
	notes []modernize.Note
}

// errConflicts ends an upgrade that left conflicts to the user.
var errConflicts = errors.New("there are conflicts")

func newUpgrade(a *app) *cobra.Command {
	var o upgradeOptions
	c := &cobra.Command{
		Use:   "upgrade",
		Short: "Bring a project of an older scaffold up to today's",
		Long: `Bring a project that operator-sdk, kubebuilder or an older Operon scaffolded up to what Operon
scaffolds today: Makefile, Dockerfile, main.go, manifests, workflows, end-to-end tests, and the Go
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

Projects of the layouts go/v2 and go/v3 move to today's: main.go to cmd, controllers to
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
	f.StringVar(&o.from, "from", "", "`scaffold` that made the project: operator-sdk-1.42, kubebuilder-4.15, or a version of either; found when not given")
	f.StringVar(&o.to, "to", "", "`version` of Operon to upgrade to; the one there is, is this program's")
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
	return a.tellUpgrade(result)
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

// upgrade makes all changes in the tree, generated files included. Where code that compiles would not do so with the new
// requirements, go.mod and the code stay as they are.
func (a *app) upgrade(ctx context.Context, tree *scaffold.Tree, known *upgrade.Fingerprints, o upgradeOptions) (*upgraded, error) {
	result, err := a.upgradeWith(ctx, tree, known, o, nil)
	if err != nil || result.problem() == nil || o.force {
		return result, err
	}
	problem := result.problem()
	failing, err := reshape.Failing(ctx, scaffold.NewTree(a.FS, tree.Root()), a.goTool())
	if err == nil && !result.breaks(failing) {
		return result, nil
	}
	if err == nil {
		tree.Reset()
		if result, err = a.upgradeWith(ctx, tree, known, o, problem); err != nil {
			return nil, err
		}
		if result.problem() == nil || !result.breaks(failing) {
			return result, nil
		}
	}
	return nil, fmt.Errorf("%w\nnothing was changed; correct it, or upgrade with --force and correct it then", problem)
}

// upgradeWith makes all changes in the tree. If there is an obstacle, go.mod and Go code stay as they are, but for
// directories and imports of the layout.
func (a *app) upgradeWith(ctx context.Context, tree *scaffold.Tree, known *upgrade.Fingerprints, o upgradeOptions, obstacle *obstacle) (*upgraded, error) {
	config, err := loadAnyProject(tree)
	if err != nil {
		return nil, err
	}
	if err := scaffold.CheckModule(tree, config.Repo()); err != nil {
		return nil, err
	}
	header, err := a.boilerplate(tree)
	if err != nil {
		return nil, err
	}
	scaffoldedLayout, tool := layoutVersion(config), scaffoldTool(config)
	layout, err := reshape.ToV4(tree, config)
	if err != nil {
		return nil, err
	}
	tree.WriteFile(project.FileName, config.Bytes(), 0o644)
	result := &upgraded{obstacle: obstacle}
	var current map[string][]byte
	keepCode := ""
	if obstacle == nil {
		current, result.notes, err = a.moveWebhooks(tree, config, header)
	} else {
		keepCode = obstacle.failure()
		current, err = a.currentFiles(config, header, true)
	}
	if err != nil {
		return nil, err
	}
	plain, err := a.currentFiles(config, header, false)
	if err != nil {
		return nil, err
	}
	verifier := upgrade.NewVerifier(scaffold.NewTree(a.FS, tree.Root()))
	files := func(layout string) (*upgrade.Result, error) {
		return upgrade.Files(tree, current, upgrade.Options{
			Names: scaffoldNames(config), Fingerprints: known, CLIVersion: config.CLIVersion(), Tool: tool, Layout: layout,
			Verifier: verifier, Stage: scaffoldStage(config), Plain: plain, KeepCode: keepCode,
			Side: conflictSides()[o.conflict], Label: "operon " + buildVersion().Version,
		})
	}
	if result.files, err = files(scaffoldedLayout); err != nil {
		return nil, err
	}
	if result.files.Stayed {
		// The manifests that stay are those of another release in the current layout. The next upgrade finds that one.
		again, err := files(layoutVersion(config))
		if err != nil {
			return nil, err
		}
		result.files.Add(again)
	}
	if layout != nil {
		if err := layout.Texts(); err != nil {
			return nil, err
		}
	}
	raised := false
	if obstacle == nil {
		if raised, err = raiseRequirements(tree, current, result); err != nil {
			return nil, err
		}
	}
	changes, err := tree.Changes()
	if err != nil || len(changes) == 0 {
		return result, err
	}
	if raised {
		if err := a.tidy(ctx, tree, result); err != nil {
			return nil, err
		}
	}
	if obstacle == nil {
		err = a.finishUpgrade(ctx, tree, result)
	} else if layout != nil {
		result.broken, err = reshape.Check(ctx, tree, a.goTool())
	}
	if err != nil {
		return nil, err
	}
	result.losses, err = verifier.Verify(tree, result.files.Resolved)
	if err != nil && !o.force {
		return nil, fmt.Errorf("%w; nothing was changed, see %s upgrade --help for --force", err, a.program)
	}
	if changes, err = tree.Changes(); err == nil {
		result.changes = tree.Paired(changes)
	}
	return result, err
}

// raiseRequirements raises what go.mod requires to what the current scaffold does, and rewrites code for that. It reports
// whether it raised anything.
func raiseRequirements(tree *scaffold.Tree, current map[string][]byte, result *upgraded) (bool, error) {
	behind, err := scaffold.Behind(tree, current["go.mod"])
	if err != nil {
		return false, err
	}
	var notes []modernize.Note
	if behind {
		notes, err = modernize.Code(tree, current)
	} else {
		notes, err = modernize.Settled(tree)
	}
	if err != nil {
		return false, err
	}
	result.notes = append(result.notes, notes...)
	return scaffold.Raise(tree, current["go.mod"], current["go.sum"])
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

// obstacle is what raised requirements break.
type obstacle struct {
	// broken names it: the code, code generation or go mod tidy.
	broken string
	err    error
}

func (o *obstacle) Error() string {
	return "the new requirements break " + o.broken + ":\n" + o.err.Error()
}

// failure is what would go wrong if code and go.mod did not stay as they are.
func (o *obstacle) failure() string { return "the new requirements would break " + o.broken }

// problem returns what does not work with the new requirements, nil if everything does.
func (u *upgraded) problem() *obstacle {
	switch {
	case u.untidy != nil: // what else there is may follow from that
		return &obstacle{"go mod tidy", u.untidy}
	case len(u.invalid) > 0:
		return &obstacle{"code generation", u.invalid}
	case len(u.broken) > 0:
		return &obstacle{"the code", u.broken}
	}
	return nil
}

// breaks reports whether what does not work with the new requirements did so before. failing holds the directories of
// packages that did not compile.
func (u *upgraded) breaks(failing map[string]bool) bool {
	if u.untidy != nil {
		return len(failing) == 0
	}
	findings := slices.Concat(u.invalid, u.broken)
	return slices.ContainsFunc(findings, func(f codegen.Finding) bool { return !failing[path.Dir(f.File)] })
}

// finishUpgrade checks the code against the new requirements and generates what follows from it. Files with conflicts count
// as resolved for the project's side. Go code with conflicts is not checked: either side may need statements of the other.
func (a *app) finishUpgrade(ctx context.Context, tree *scaffold.Tree, result *upgraded) error {
	for _, f := range result.files.Conflicts() {
		name := f.Name
		resolved, ok := result.files.Resolved[name]
		if !ok || path.Ext(name) == ".go" {
			return nil
		}
		marked, err := tree.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		tree.WriteFile(name, resolved, 0o644)
		defer tree.WriteFile(name, marked, 0o644)
	}
	unresolved, err := scaffold.UpdateRequirements(tree)
	if err == nil && len(unresolved) > 0 && result.untidy == nil {
		err = a.tidy(ctx, tree, result)
	}
	if err == nil {
		err = a.vendor(ctx, tree)
	}
	if errors.As(err, &result.untidy) {
		return nil
	}
	if err != nil {
		return err
	}
	// What is generated may be missing, and the rest of the code relies on it.
	err = a.generate(ctx, tree, codegen.All)
	if errors.As(err, &result.invalid) {
		return nil
	}
	if err == nil {
		err = upgrade.UpdateWebhookPatches(scaffold.NewTree(a.FS, tree.Root()), tree)
	}
	if err == nil {
		result.broken, err = reshape.Check(ctx, tree, a.goTool())
	}
	return err
}

// tidy tidies go.mod, unless the project's code prevents it.
func (a *app) tidy(ctx context.Context, tree *scaffold.Tree, result *upgraded) error {
	err := a.goTool().Tidy(ctx, tree)
	if errors.As(err, &result.untidy) {
		return nil
	}
	return err
}

// tellUpgrade prints what is left to the user. Conflicts and what does not work with the new requirements make the command
// fail.
func (a *app) tellUpgrade(result *upgraded) error {
	kept := map[string][]string{} // by the reason
	for _, f := range result.files.Files {
		if f.State == upgrade.Kept {
			kept[f.Note] = append(kept[f.Note], f.Name)
		}
	}
	for _, f := range result.files.Files {
		names := kept[f.Note]
		switch {
		case result.obstacle != nil && f.Failure == result.obstacle.failure(): // printed with the obstacle
		case f.State == upgrade.Kept && names[0] != f.Name: // printed with the first one
		case f.Failure != "" && len(names) > 1:
			a.progressf("kept as they are: %s and %d more files, as otherwise %s", f.Name, len(names)-1, f.Failure)
		case f.State == upgrade.Kept:
			for _, name := range names {
				a.progressf("kept as it is: %s %s", name, f.Note)
			}
		case len(f.Choices) > 0:
			a.progressf("yours stays where the scaffold changed, too: %s: %s", f.Name, strings.Join(f.Choices, ", "))
		}
	}
	for _, n := range result.notes {
		a.progressf("%s", n)
	}
	for _, l := range result.losses {
		a.progressf("%s", l)
	}
	if result.obstacle != nil {
		a.progressf("go.mod, Go code and the manifests stay as they are: %s\ncorrect it and upgrade again, or upgrade with --force and correct it then", result.obstacle)
	}
	conflicts := result.files.Conflicts()
	switch {
	case len(result.changes) > 0 || len(conflicts) > 0:
	case result.obstacle != nil:
		a.progressf("nothing was changed")
		return nil
	default:
		a.progressf("the project is up to date, nothing was changed")
		return nil
	}
	next := fmt.Sprintf("'%s generate' and 'make test'", a.program)
	if result.untidy != nil {
		next = "'go mod tidy', " + next
	}
	switch {
	case len(conflicts) > 0:
		var lines []string
		for _, f := range conflicts {
			lines = append(lines, "\n  "+f.Name)
		}
		return fmt.Errorf("%w: you and the scaffold have changed the same lines of%s\n"+
			"choose between the lines marked there, then run %s", errConflicts, strings.Join(lines, ""), next)
	case result.problem() != nil:
		return fmt.Errorf("%w\ncorrect it, then run %s", result.problem(), next)
	case a.dryRun:
	default:
		a.progressf("next: review what changed, then 'make test'")
	}
	return nil
}

// checkUpgrade prints what an upgrade would do with each file, and fails if that is anything.
func (a *app) checkUpgrade(ctx context.Context, root string, known *upgrade.Fingerprints, o upgradeOptions) error {
	if err := scaffold.Unfinished(a.FS, root); err != nil {
		return err
	}
	result, err := a.upgrade(ctx, scaffold.NewTree(a.FS, root), known, o)
	if err != nil {
		return err
	}
	files := map[string]upgrade.File{}
	for _, f := range result.files.Files {
		files[f.Name] = f
	}
	for _, c := range result.changes {
		note := ""
		if f, ok := files[c.Path]; ok {
			note = f.Describe()
		}
		added, removed := scaffold.Count(c)
		if _, err := fmt.Fprintf(a.Out, "%s  %s  +%d -%d%s\n", c.Action(), c.Place(), added, removed, note); err != nil {
			return err
		}
		delete(files, c.Path)
	}
	for _, f := range result.files.Files {
		if _, ok := files[f.Name]; !ok {
			continue
		}
		if _, err := fmt.Fprintf(a.Out, "kept  %s%s\n", f.Name, f.Describe()); err != nil {
			return err
		}
	}
	if result.obstacle != nil {
		a.progressf("%s", result.obstacle)
	}
	unsettled := len(result.files.Conflicts())
	if len(result.changes) == 0 && unsettled == 0 {
		if result.obstacle == nil {
			a.progressf("the project is up to date")
		}
		return nil
	}
	if len(result.changes) == 0 {
		return fmt.Errorf("%w: settle the conflicts", errConflicts)
	}
	noun := "files"
	if len(result.changes) == 1 {
		noun = "file"
	}
	return fmt.Errorf("%d %s out of date, as scaffolded by %s; run '%s upgrade'", len(result.changes), noun, result.files.From, a.program)
}
