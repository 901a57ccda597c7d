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

// A runtimeLayout describes projects without Go code, whose manager is a runtime in their base image.
type runtimeLayout struct {
	// name is the layout in fingerprints.
	name string
	// image is the current base image, and argument the argument of the Dockerfile with it.
	image, argument string
	// sdkImage matches the images of operator-sdk's runtime.
	sdkImage string
	// sources are the files that the permissions of the manager are derived from, in messages.
	sources string
}

// runtimeLayoutOf returns the layout of a project without Go code, or nil.
func (p *Project) runtimeLayoutOf(config *project.Config) *runtimeLayout {
	if config.IsHelm() {
		return &runtimeLayout{
			name: migrate.HelmLayout, image: p.versions().HelmOperatorImage, argument: "HELM_OPERATOR_IMAGE",
			sdkImage: `quay\.io/operator-framework/helm-operator`, sources: "the charts",
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
	other, err := layout.replaceBaseImage(tree)
	if err != nil {
		return nil, err
	}
	current, err := p.currentFiles(config, "", false)
	if err != nil {
		return nil, err
	}
	verifier := migrate.NewVerifier(p.tree())
	verifier.NoProgram = true
	u := &upgrade{noProgram: true}
	u.files, err = migrate.Files(tree, current, migrate.Options{
		Names: scaffoldNames(config), Fingerprints: known, CLIVersion: config.CLIVersion(), Tool: scaffoldTool(config), Layout: layout.name,
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
			Problem: fmt.Sprintf("not compared with %s: %s; correct it, then run '%s generate'", layout.sources, diag.Cause(err), p.Program)})
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

// anyBase matches the image of a stage in a Dockerfile.
var anyBase = regexp.MustCompile(`(?m)^FROM\s+(?:--platform=\S+\s+)?(\S+)`)

// sdkBase matches the line of a Dockerfile with the image of operator-sdk's runtime, of any version.
func (l *runtimeLayout) sdkBase() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^FROM\s+(?:--platform=\S+\s+)?` + l.sdkImage + `(?:[:@]\S+)?[ \t]*$`)
}

// replaceBaseImage replaces operator-sdk's runtime in the Dockerfile by the current base image, before the file is merged: many
// projects have the runtime of another release than that of their scaffold. It returns another base image, which stays.
func (l *runtimeLayout) replaceBaseImage(tree *worktree.Tree) (other string, err error) {
	text, err := tree.ReadOptional(dockerfile)
	if err != nil || text == nil {
		return "", err
	}
	replaced := l.sdkBase().ReplaceAll(text, []byte("ARG "+l.argument+"="+l.image+"\nFROM $${"+l.argument+"}"))
	tree.WriteFile(dockerfile, replaced, worktree.FileMode)
	if bases := anyBase.FindAllSubmatch(replaced, -1); len(bases) > 0 {
		if last := string(bases[len(bases)-1][1]); !strings.Contains(last, l.argument) {
			other = last
		}
	}
	return other, nil
}
