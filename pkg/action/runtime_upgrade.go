package action

import (
	"context"
	"fmt"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/migrate"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A runtimeLayout describes projects without Go code, whose manager is a runtime in their base image.
type runtimeLayout struct {
	// name is the layout in fingerprints.
	name string
	// image is the current base image, and argument the argument of the Dockerfile with it.
	image, argument string
	// sdkImage is the repository of the images of operator-sdk's runtime, and program the path of the runtime in all of them.
	sdkImage, program string
	// packages means that images of operator-sdk's runtime may have packages that other steps of a Dockerfile need.
	packages bool
	// sources are the files that the permissions of the manager are derived from, in messages.
	sources string
}

// runtimeLayoutOf returns the layout of a project without Go code, or nil.
func (p *Project) runtimeLayoutOf(config *project.Config) *runtimeLayout {
	if config.IsHelm() {
		return &runtimeLayout{
			name: migrate.HelmLayout, image: p.versions().HelmOperatorImage, argument: "HELM_OPERATOR_IMAGE",
			sdkImage: "quay.io/operator-framework/helm-operator", program: "/usr/local/bin/helm-operator", sources: "the charts",
		}
	}
	if config.IsAnsible() {
		return &runtimeLayout{
			name: migrate.AnsibleLayout, image: p.versions().AnsibleOperatorImage, argument: "ANSIBLE_OPERATOR_IMAGE",
			sdkImage: "quay.io/operator-framework/ansible-operator", program: "/usr/local/bin/ansible-operator", packages: true,
			sources: "the roles and playbooks",
		}
	}
	return nil
}

// upgradeRuntime makes all changes of an upgrade in the tree of a project without Go code, including permissions that the role of its
// manager lacks. Charts, roles, playbooks, watches.yaml, samples, and CRDs of operator-sdk do not change.
func (p *Project) upgradeRuntime(
	ctx context.Context, tree *worktree.Tree, config *project.Config, layout *runtimeLayout, known *migrate.Fingerprints, o UpgradeOptions,
) (*upgrade, error) {
	tree.WriteFile(project.FileName, config.Bytes(), worktree.FileMode)
	current, err := p.currentFiles(config, "", false)
	if err != nil {
		return nil, err
	}
	base, err := layout.upgradeBaseImage(tree, current)
	if err != nil {
		return nil, err
	}
	verifier := p.verifier(ctx)
	verifier.NoProgram = true
	u := &upgrade{noProgram: true}
	err = layout.mergeDockerfile(tree, func() error {
		u.files, err = migrate.Files(tree, current, migrate.Options{
			Names: scaffoldNames(config), Fingerprints: known, CLIVersion: config.CLIVersion(), Tool: scaffoldTool(config), Layout: layout.name,
			Verifier: verifier, Content: scaffoldStage(config), Plain: current, Side: conflictSides()[o.Conflict], Label: "operon " + p.Version,
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
			Problem: fmt.Sprintf("not compared with %s: %s; correct it, then run '%s generate'", layout.sources, diag.Cause(err), p.Program)})
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
