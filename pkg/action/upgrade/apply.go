package upgrade

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/migrate"
	"github.com/operon-sdk/operon/pkg/migrate/gocode"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// An upgrade is the result of applyUpgrade.
type upgrade struct {
	// noProgram means that the project has no Go code.
	noProgram bool
	files     *migrate.Result
	changes   []worktree.Change
	// untidy is the reason why go.mod cannot be tidied, or nil.
	untidy *gotool.Error
	// invalid are the errors of code generation, broken the compiler's.
	invalid, broken diag.Findings
	// obstacle is the reason why go.mod and the code do not change, or nil.
	obstacle *obstacle
	// losses are objects that the project's kustomizations no longer build.
	losses []migrate.Loss
	// notes are about code that the user must check, though it may compile.
	notes diag.Findings
}

// applyUpgrade makes all changes in the tree, including generated files. If code that compiles would not compile with the new
// requirements, go.mod and the code do not change.
func applyUpgrade(ctx context.Context, p *action.Project, tree *worktree.Tree, known *migrate.Fingerprints, o Options) (*upgrade, error) {
	config, err := p.LoadFrom(tree, action.UpgradableLayouts)
	if err != nil {
		return nil, err
	}
	if !config.HasGoCode() {
		return upgradeRuntime(ctx, p, tree, config, known, o)
	}
	version := config.CLIVersion()
	u, err := upgradeTree(ctx, p, tree, known, o, nil)
	if err == nil && len(u.changes) > 0 && known.IsNewer(version) {
		p.Reportf(diag.Warning, "kubebuilder %s wrote PROJECT, which is newer than %s, the newest release that this version of %s recognizes; "+
			"what only that release writes counts as yours and is kept", version, known.NewestKubebuilder(), p.Program)
	}
	if err != nil || u.problem() == nil || o.Force {
		return u, err
	}
	problem := u.problem()
	refusal := diag.Advise(problem, "nothing was changed; correct it, or upgrade with --force and correct it then")
	failing, err := refactor.BrokenPackages(ctx, p.Original(), p.Types())
	if err != nil {
		return nil, refusal // it is unknown whether the code compiles
	}
	if !u.breaks(failing) {
		return u, nil
	}
	tree.Reset()
	if u, err = upgradeTree(ctx, p, tree, known, o, problem); err != nil {
		return nil, err
	}
	if u.problem() != nil && u.breaks(failing) {
		return nil, refusal
	}
	return u, nil
}

// upgradeTree makes all changes in the tree. With an obstacle, go.mod and Go code do not change, except for directories and
// imports of the layout.
func upgradeTree(
	ctx context.Context, p *action.Project, tree *worktree.Tree, known *migrate.Fingerprints, o Options, obstacle *obstacle,
) (*upgrade, error) {
	config, err := p.LoadFrom(tree, action.UpgradableLayouts)
	if err != nil {
		return nil, err
	}
	if err := scaffold.CheckModule(tree, config.Repo()); err != nil {
		return nil, err
	}
	header, _, err := p.Header(tree)
	if err != nil {
		return nil, err
	}
	action.FollowInstallation(tree, config)
	if err := raisePin(p, tree); err != nil {
		return nil, err
	}
	scaffoldedLayout, tool := layoutVersion(config), scaffoldTool(config)
	layout, err := refactor.MoveToV4(tree, config)
	if err != nil {
		return nil, err
	}
	tree.WriteFile(project.FileName, config.Bytes(), 0o644)
	u := &upgrade{obstacle: obstacle}
	var current map[string][]byte
	keepCode := ""
	if obstacle == nil {
		current, u.notes, err = moveWebhooks(p, tree, config, header)
	} else {
		keepCode = obstacle.failure()
		current, err = currentFiles(p, config, header, true)
	}
	if err != nil {
		return nil, err
	}
	plain, err := currentFiles(p, config, header, false)
	if err != nil {
		return nil, err
	}
	verifier := verifier(ctx, p)
	files := func(layout string) (*migrate.Result, error) {
		return migrate.Files(tree, current, migrate.Options{
			Names: action.ScaffoldNames(config), Fingerprints: known, CLIVersion: config.CLIVersion(), Tool: tool, Layout: layout,
			Verifier: verifier, Content: scaffoldStage(config), Plain: plain, KeepCode: keepCode,
			Side: action.ConflictSides()[o.Conflict], Label: "operon " + p.Version,
		})
	}
	if u.files, err = files(scaffoldedLayout); err != nil {
		return nil, err
	}
	if u.files.Stayed {
		// The kept manifests come from another release in the current layout, which the next upgrade detects.
		again, err := files(layoutVersion(config))
		if err != nil {
			return nil, err
		}
		u.files.Add(again)
	}
	if layout != nil {
		if err := layout.UpdateTexts(); err != nil {
			return nil, err
		}
	}
	raised := false
	if obstacle == nil {
		if raised, err = u.raiseRequirements(tree, current); err != nil {
			return nil, err
		}
	}
	changes, err := tree.Changes()
	if err != nil || len(changes) == 0 {
		return u, err
	}
	if raised {
		if err := tidy(ctx, p, tree, u); err != nil {
			return nil, err
		}
	}
	if obstacle == nil {
		err = finishUpgrade(ctx, p, tree, u)
	} else if layout != nil {
		u.broken, err = refactor.Check(ctx, tree, p.Types())
	}
	if err != nil {
		return nil, err
	}
	u.losses, err = verifier.Verify(tree, u.files.Resolved)
	if err != nil && !o.Force {
		return nil, diag.WithFix(err, fmt.Sprintf("nothing was changed, see %s upgrade --help for --force", p.Program))
	}
	if changes, err = tree.Changes(); err == nil {
		u.changes = tree.Paired(changes)
	}
	return u, err
}

// raisePin raises the release of Operon in the Makefile: it decides what the project's CI installs, and an older Operon would find the
// files of the current scaffold out of date. The merge alone keeps it if nothing else changed between the releases.
func raisePin(p *action.Project, tree *worktree.Tree) error {
	makefile, err := tree.ReadOptional(project.Makefile)
	if err != nil || makefile == nil {
		return err
	}
	if raised := project.RaiseOperon(makefile, p.Versions().Operon); !bytes.Equal(raised, makefile) {
		tree.WriteFile(project.Makefile, raised, worktree.FileMode)
	}
	return nil
}

// moveWebhooks moves webhooks from the packages of the types to where the current scaffold has them. It returns the files of that
// scaffold, which depend on the webhooks that are found.
func moveWebhooks(p *action.Project,
	tree *worktree.Tree, config *project.Config, header string,
) (current map[string][]byte, notes diag.Findings, err error) {
	found, err := gocode.FindWebhooks(tree, config)
	if err != nil {
		return nil, nil, err
	}
	if current, err = currentFiles(p, config, header, true); err != nil {
		return nil, nil, err
	}
	notes, err = found.Move(current)
	return current, notes, err
}

// raiseRequirements raises the requirements of go.mod to the current scaffold's, and rewrites code for that. It reports
// whether it changed requirements.
func (u *upgrade) raiseRequirements(tree *worktree.Tree, current map[string][]byte) (bool, error) {
	outdated, err := scaffold.NeedsBump(tree, current["go.mod"])
	if err != nil {
		return false, err
	}
	var notes diag.Findings
	if outdated {
		notes, err = gocode.Rewrite(tree, current)
	} else {
		notes, err = gocode.RewriteAfterConflicts(tree)
	}
	if err != nil {
		return false, err
	}
	u.notes = append(u.notes, notes...)
	return scaffold.BumpRequirements(tree, current["go.mod"], current["go.sum"])
}

// finishUpgrade checks the code against the new requirements and generates code and manifests. Files with conflicts count as
// resolved for the project's side. Go code with conflicts is not checked, as each side may need statements of the other.
func finishUpgrade(ctx context.Context, p *action.Project, tree *worktree.Tree, u *upgrade) error {
	if u.untidy != nil {
		return nil // the go command cannot determine which packages the code imports
	}
	for _, f := range u.files.Conflicts() {
		name := f.Name
		resolved, ok := u.files.Resolved[name]
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
		err = tidy(ctx, p, tree, u)
	}
	if err == nil && u.untidy == nil {
		err = p.Vendor(ctx, tree)
	}
	if errors.As(err, &u.untidy) || u.untidy != nil {
		return nil
	}
	if err != nil {
		return err
	}
	// The code may depend on generated files that do not exist yet.
	err = p.GenerateIn(ctx, tree, codegen.All)
	if errors.As(err, &u.invalid) {
		return nil
	}
	if err == nil {
		err = migrate.UpdateWebhookPatches(p.Original(), tree)
	}
	if err == nil {
		u.broken, err = refactor.Check(ctx, tree, p.Types())
	}
	return err
}

// tidy tidies go.mod, unless the code of the project prevents that.
func tidy(ctx context.Context, p *action.Project, tree *worktree.Tree, u *upgrade) error {
	err := p.Go.Tidy(ctx, tree)
	if errors.As(err, &u.untidy) {
		return nil
	}
	return err
}

// verifier returns the verifier of an upgrade.
func verifier(ctx context.Context, p *action.Project) *migrate.Verifier {
	verifier := migrate.NewVerifier(p.Original())
	verifier.Build = func(dir string, files map[string][]byte) ([]byte, error) {
		return p.Remote.Build(ctx, p.Root, dir, files)
	}
	return verifier
}
