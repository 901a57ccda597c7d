package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/modernize"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/reshape"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/upgrade"
)

// upgradeOptions are the flags of upgrade.
type upgradeOptions struct {
	from, to, conflict string
	check              bool
}

// upgraded is what came of an upgrade.
type upgraded struct {
	files   *upgrade.Result
	changes []scaffold.Change
	// untidy is what keeps go.mod from being tidied, nil if nothing does. broken is code that does not compile.
	untidy *gotool.Error
	broken codegen.Findings
	// notes are about code that a person has to look at, though it may compile.
	notes []modernize.Note
}

// errBehind ends a --check that found something to do.
var errBehind = errors.New("the project is behind today's scaffold")

// errConflicts ends an upgrade that left conflicts to a person.
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

What the old scaffold wrote is told from what you wrote, line by line, and your lines stay. Types,
controllers, webhooks and their tests are yours and keep every byte, but for calls that a new
controller-runtime wants otherwise. A file that you removed does not come back.

Projects of the layouts go/v2 and go/v3 move to today's: main.go to cmd, controllers to
internal/controller, apis to api, with the files of yours that are there. Imports, relative paths and
scripts follow in all of the module. PROJECT files of version 2 and 3-alpha are converted.

Webhooks that are set up beside the types move to internal/webhook with their markers and tests. The
types' own methods stay, and the new webhooks call them.

Where you and the scaffold have changed the same lines, the file holds both, between conflict
markers, and the command lists those files and fails; --conflict decides for one side instead.
Running it again changes nothing.`,
		Example: fmt.Sprintf(`  # What would be done, file by file; fails if that is anything, for CI:
  %[1]s upgrade --check

  # As a diff, then for real:
  %[1]s upgrade --dry-run
  %[1]s upgrade

  # Keep your lines wherever both have changed:
  %[1]s upgrade --conflict ours

  # When the scaffold is not recognised:
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
func (o *upgradeOptions) scaffolds() (*upgrade.Known, error) {
	known, err := upgrade.ReadKnown()
	if err != nil {
		return nil, err
	}
	var findings project.Findings
	if o.from != "" {
		only := known.Named(o.from)
		if only == nil {
			var names []string
			for _, s := range known.Scaffolds() {
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

func conflictSides() map[string]upgrade.Side {
	return map[string]upgrade.Side{"": upgrade.Neither, "ours": upgrade.Ours, "theirs": upgrade.Theirs}
}

// upgrade makes all changes in the tree, generated files included.
func (a *app) upgrade(ctx context.Context, tree *scaffold.Tree, known *upgrade.Known, o upgradeOptions) (*upgraded, error) {
	config, err := loadAnyProject(tree)
	if err != nil {
		return nil, err
	}
	header, err := a.boilerplate(tree)
	if err != nil {
		return nil, err
	}
	layout, err := reshape.ToV4(tree, config)
	if err != nil {
		return nil, err
	}
	tree.WriteFile(project.FileName, config.Bytes(), 0o644)
	today, notes, err := a.moveWebhooks(tree, config, header)
	if err != nil {
		return nil, err
	}
	result := &upgraded{notes: notes}
	result.files, err = upgrade.Files(tree, today, upgrade.Options{
		Names: scaffoldNames(config), Known: known, Side: conflictSides()[o.conflict], Label: "operon " + buildVersion().Version,
	})
	if err != nil {
		return nil, err
	}
	if layout != nil {
		if err := layout.Texts(); err != nil {
			return nil, err
		}
	}
	behind, err := scaffold.Behind(tree, today["go.mod"])
	if err != nil {
		return nil, err
	}
	if behind {
		notes, err = modernize.Code(tree, today)
	} else {
		notes, err = modernize.Settled(tree)
	}
	if err != nil {
		return nil, err
	}
	result.notes = append(result.notes, notes...)
	raised, err := scaffold.Raise(tree, today["go.mod"], today["go.sum"])
	if err != nil {
		return nil, err
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
	if len(result.files.Conflicts()) == 0 {
		if err := a.finishUpgrade(ctx, tree, result); err != nil {
			return nil, err
		}
	}
	if changes, err = tree.Changes(); err == nil {
		result.changes = tree.Paired(changes)
	}
	return result, err
}

// finishUpgrade checks the code against the new requirements and generates what follows from it.
func (a *app) finishUpgrade(ctx context.Context, tree *scaffold.Tree, result *upgraded) error {
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
	if findings, ok := errors.AsType[codegen.Findings](err); ok {
		result.broken = findings
		return nil
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

// tellUpgrade says what is left to a person. Conflicts, broken code and an untidy go.mod make the command fail.
func (a *app) tellUpgrade(result *upgraded) error {
	for _, f := range result.files.Files {
		if f.State == upgrade.Kept {
			a.progressf("kept as it is: %s %s", f.Name, f.Note)
		}
	}
	for _, n := range result.notes {
		a.progressf("%s", n)
	}
	conflicts := result.files.Conflicts()
	if len(result.changes) == 0 && len(conflicts) == 0 {
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
	case len(result.broken) > 0:
		return fmt.Errorf("with the new requirements, code of yours does not compile:\n%w\ncorrect it, then run %s", notInput{result.broken}, next)
	case result.untidy != nil:
		return fmt.Errorf("go.mod cannot be tidied: %w\ncorrect the imports, then run %s", result.untidy, next)
	case a.dryRun:
	default:
		a.progressf("next: review what changed, then 'make test'")
	}
	return nil
}

// notInput hides findings from what tells wrong input from other failures: here they are an outcome.
type notInput struct{ findings codegen.Findings }

func (e notInput) Error() string { return e.findings.Error() }

// checkUpgrade prints what an upgrade would do with each file, and fails if that is anything.
func (a *app) checkUpgrade(ctx context.Context, root string, known *upgrade.Known, o upgradeOptions) error {
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
	unsettled := len(result.files.Conflicts())
	if len(result.changes) == 0 && unsettled == 0 {
		a.progressf("the project is up to date")
		return nil
	}
	if len(result.changes) == 0 {
		return fmt.Errorf("%w: settle the conflicts", errConflicts)
	}
	return fmt.Errorf("%w: it is as %s makes it, and files that differ: %d; run '%s upgrade'", errBehind, result.files.From, len(result.changes), a.program)
}
