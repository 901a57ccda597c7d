package action

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/migrate"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// upgradeHelm makes all changes of an upgrade in the tree of a Helm project, including permissions that the role of its manager lacks.
// Charts, watches.yaml, samples, and CRDs of operator-sdk do not change.
func (p *Project) upgradeHelm(ctx context.Context, tree *worktree.Tree, known *migrate.Fingerprints, o UpgradeOptions) (*upgrade, error) {
	config, err := Load(tree, UpgradableLayouts)
	if err != nil {
		return nil, err
	}
	tree.WriteFile(project.FileName, config.Bytes(), worktree.FileMode)
	other, err := replaceBaseImage(tree, p.versions().HelmOperatorImage)
	if err != nil {
		return nil, err
	}
	current, err := p.currentFiles(config, "", false)
	if err != nil {
		return nil, err
	}
	verifier := migrate.NewVerifier(p.tree())
	verifier.NoProgram = true
	u := &upgrade{helm: true}
	u.files, err = migrate.Files(tree, current, migrate.Options{
		Names: scaffoldNames(config), Fingerprints: known, CLIVersion: config.CLIVersion(), Tool: scaffoldTool(config), Layout: migrate.HelmLayout,
		Verifier: verifier, Content: scaffoldStage(config), Plain: current, Side: conflictSides()[o.Conflict], Label: "operon " + p.Version,
	})
	if err != nil {
		return nil, err
	}
	if other != "" && u.files.From != (migrate.Release{}) {
		u.notes = append(u.notes, diag.Finding{Position: diag.Position{File: dockerfile},
			Problem: fmt.Sprintf("the base image is still %s; the manifests have flags of operator-sdk 1.38 and later, or of Operon", other)})
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
			Problem: fmt.Sprintf("not compared with the charts: %s; correct it, then run '%s generate'", diag.Cause(err), p.Program)})
	}
	u.losses, err = verifier.Verify(tree, u.files.Resolved)
	if err != nil && !o.Force {
		return nil, fmt.Errorf("%w; nothing was changed, see %s upgrade --help for --force", err, p.Program)
	}
	if changes, err = tree.Changes(); err == nil {
		u.changes = tree.Paired(changes)
	}
	return u, err
}

const dockerfile = "Dockerfile"

// sdkBase matches the line of a Dockerfile with the image of operator-sdk's runtime, of any version.
var sdkBase = regexp.MustCompile(`(?m)^FROM\s+(?:--platform=\S+\s+)?quay\.io/operator-framework/helm-operator(?:[:@]\S+)?[ \t]*$`)

// anyBase matches the image of a stage in a Dockerfile.
var anyBase = regexp.MustCompile(`(?m)^FROM\s+(?:--platform=\S+\s+)?(\S+)`)

// replaceBaseImage replaces operator-sdk's runtime in the Dockerfile by the image of this program, before the file is merged: many
// projects have the runtime of another release than that of their scaffold. It returns another base image, which stays.
func replaceBaseImage(tree *worktree.Tree, image string) (other string, err error) {
	text, err := tree.ReadOptional(dockerfile)
	if err != nil || text == nil {
		return "", err
	}
	replaced := sdkBase.ReplaceAll(text, []byte("ARG HELM_OPERATOR_IMAGE="+image+"\nFROM $${HELM_OPERATOR_IMAGE}"))
	tree.WriteFile(dockerfile, replaced, worktree.FileMode)
	if bases := anyBase.FindAllSubmatch(replaced, -1); len(bases) > 0 {
		if last := string(bases[len(bases)-1][1]); !strings.Contains(last, "HELM_OPERATOR_IMAGE") {
			other = last
		}
	}
	return other, nil
}
