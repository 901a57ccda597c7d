package cmd

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/migrate"
	"github.com/operon-sdk/operon/pkg/migrate/gocode"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// upgraded is what came of an upgrade.
type upgraded struct {
	files   *migrate.Result
	changes []worktree.Change
	// untidy is what keeps go.mod from being tidied, nil if nothing does.
	untidy *gotool.Error
	// invalid is what keeps code and manifests from being generated, broken what keeps the code from compiling.
	invalid, broken codegen.Findings
	// obstacle is why go.mod and the code stay as they are, nil if they do not.
	obstacle *obstacle
	// losses is what the project's kustomizations no longer build.
	losses []migrate.Loss
	// notes are about code that the user has to look at, though it may compile.
	notes []gocode.Note
}

// upgrade makes all changes in the tree, generated files included. Where code that compiles would not do so with the new
// requirements, go.mod and the code stay as they are.
func (a *app) upgrade(ctx context.Context, tree *worktree.Tree, known *migrate.Fingerprints, o upgradeOptions) (*upgraded, error) {
	result, err := a.upgradeWith(ctx, tree, known, o, nil)
	if err != nil || result.problem() == nil || o.force {
		return result, err
	}
	problem := result.problem()
	refusal := fmt.Errorf("%w\nnothing was changed; correct it, or upgrade with --force and correct it then", problem)
	failing, err := refactor.BrokenPackages(ctx, worktree.NewTree(a.FS, tree.Root()), a.goTool())
	if err != nil {
		return nil, refusal // whether the code compiles is not known
	}
	if !result.breaks(failing) {
		return result, nil
	}
	tree.Reset()
	if result, err = a.upgradeWith(ctx, tree, known, o, problem); err != nil {
		return nil, err
	}
	if result.problem() != nil && result.breaks(failing) {
		return nil, refusal
	}
	return result, nil
}

// upgradeWith makes all changes in the tree. If there is an obstacle, go.mod and Go code stay as they are, but for
// directories and imports of the layout.
func (a *app) upgradeWith(ctx context.Context, tree *worktree.Tree, known *migrate.Fingerprints, o upgradeOptions, obstacle *obstacle) (*upgraded, error) {
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
	layout, err := refactor.MoveToV4(tree, config)
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
	verifier := migrate.NewVerifier(worktree.NewTree(a.FS, tree.Root()))
	files := func(layout string) (*migrate.Result, error) {
		return migrate.Files(tree, current, migrate.Options{
			Names: scaffoldNames(config), Fingerprints: known, CLIVersion: config.CLIVersion(), Tool: tool, Layout: layout,
			Verifier: verifier, Content: scaffoldStage(config), Plain: plain, KeepCode: keepCode,
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
		if err := layout.UpdateTexts(); err != nil {
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
		result.broken, err = refactor.Check(ctx, tree, a.goTool())
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
func raiseRequirements(tree *worktree.Tree, current map[string][]byte, result *upgraded) (bool, error) {
	behind, err := scaffold.NeedsBump(tree, current["go.mod"])
	if err != nil {
		return false, err
	}
	var notes []gocode.Note
	if behind {
		notes, err = gocode.Rewrite(tree, current)
	} else {
		notes, err = gocode.RewriteAfterConflicts(tree)
	}
	if err != nil {
		return false, err
	}
	result.notes = append(result.notes, notes...)
	return scaffold.BumpRequirements(tree, current["go.mod"], current["go.sum"])
}

// finishUpgrade checks the code against the new requirements and generates what follows from it. Files with conflicts count
// as resolved for the project's side. Go code with conflicts is not checked: either side may need statements of the other.
func (a *app) finishUpgrade(ctx context.Context, tree *worktree.Tree, result *upgraded) error {
	if result.untidy != nil {
		return nil // the go command cannot tell which packages the code imports
	}
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
	if err == nil && len(unresolved) > 0 {
		err = a.tidy(ctx, tree, result)
	}
	if err == nil && result.untidy == nil {
		err = a.vendor(ctx, tree)
	}
	if errors.As(err, &result.untidy) || result.untidy != nil {
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
		err = migrate.UpdateWebhookPatches(worktree.NewTree(a.FS, tree.Root()), tree)
	}
	if err == nil {
		result.broken, err = refactor.Check(ctx, tree, a.goTool())
	}
	return err
}

// tidy tidies go.mod, unless the project's code prevents it.
func (a *app) tidy(ctx context.Context, tree *worktree.Tree, result *upgraded) error {
	err := a.goTool().Tidy(ctx, tree)
	if errors.As(err, &result.untidy) {
		return nil
	}
	return err
}
