package upgrade

import (
	"context"
	"fmt"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/migrate"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A runtimeImage is the base image with the program of projects without Go code.
type runtimeImage struct {
	*layout.Runtime
	// image is the current base image.
	image string
}

// upgradeRuntime makes all changes of an upgrade in the tree of a project without Go code, including permissions that the role of its
// manager lacks. Charts, roles, playbooks, watches.yaml, samples, and CRDs of operator-sdk do not change.
func upgradeRuntime(
	ctx context.Context, p *action.Project, tree *worktree.Tree, config *project.Config, known *migrate.Fingerprints, o Options,
) (*upgrade, error) {
	tree.WriteFile(project.FileName, config.Bytes(), worktree.FileMode)
	action.FollowInstallation(tree, config)
	if err := raisePin(p, tree); err != nil {
		return nil, err
	}
	current, err := currentFiles(p, config, "", false)
	if err != nil {
		return nil, err
	}
	facts := config.Facts()
	runtime := runtimeImage{facts.Runtime, facts.Runtime.Image(p.Versions().Operon)}
	base, err := runtime.upgradeBaseImage(tree, current)
	if err != nil {
		return nil, err
	}
	verifier := verifier(ctx, p)
	verifier.NoProgram = true
	u := &upgrade{noProgram: true}
	err = runtime.mergeDockerfile(tree, func() error {
		u.files, err = migrate.Files(tree, current, migrate.Options{
			Names: action.ScaffoldNames(config), Fingerprints: known, CLIVersion: config.CLIVersion(), Tool: scaffoldTool(config), Layout: facts.Fingerprints,
			Verifier: verifier, Content: scaffoldStage(config), Plain: current, Side: action.ConflictSides()[o.Conflict], Label: "operon " + p.Version,
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	if base != "" && u.files.From != (migrate.Release{}) {
		u.notes = append(u.notes, diag.Finding{Position: diag.Position{File: dockerfile}, Problem: base})
	}
	changes, err := tree.Changes()
	if err != nil || len(changes) == 0 {
		return u, err
	}
	if err := p.GenerateIn(ctx, tree, codegen.All); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		u.notes = append(u.notes, diag.Finding{Position: diag.Position{File: project.RoleFile},
			Problem: fmt.Sprintf("not compared with %s: %s; correct it, then run '%s generate'", runtime.Sources, diag.Cause(err), p.Program)})
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
