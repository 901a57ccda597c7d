package gokinds

import (
	"context"
	"fmt"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Certificates returns a change of where the webhooks of a project get their certificate, for action.Edit. With force, edits of the user
// in what it removes are lost.
func Certificates(p *action.Project, to project.Certificates, force bool) func(context.Context, *worktree.Tree, *project.Config) error {
	return func(ctx context.Context, tree *worktree.Tree, config *project.Config) error {
		header, _, err := p.Header(tree)
		if err != nil {
			return err
		}
		webhooks := p.Recorded(config, header).Webhooks
		if len(webhooks) == 0 {
			return diag.Findings{{Field: "--certificates", Value: string(to),
				Problem: "the project has no webhooks; choose their certificates with 'operon create webhook --certificates'"}}
		}
		if scaffold.FindCertificates(tree) == to {
			return nil
		}
		written, err := findWrittenLines(ctx, p, config)
		if err != nil {
			return err
		}
		var before *gosource.Module
		if scaffold.FindCertificates(tree) == project.SelfManaged { // whose package may have other users
			if before, err = gosource.ReadModule(tree); err != nil {
				return err
			}
		}
		report, err := scaffold.SetCertificates(tree, scaffold.Deletion{
			RemovedWebhooks: webhooks, Force: force, FromPeer: config.CLIVersion() != "", Written: written.Has,
		}, to)
		if err != nil {
			return err
		}
		if _, err := scaffold.UpdateRequirements(tree); err != nil {
			return err
		}
		if before != nil {
			broken, err := refactor.NewErrors(ctx, tree, before, p.Types())
			if err != nil {
				return err
			}
			if len(broken) > 0 {
				return &diag.Group{Heading: "other code of the project uses internal/webhookcert, nothing was changed:", Err: broken, Advice: []string{"change it first"}}
			}
		}
		objects, err := buildDefault(ctx, p, tree, tree.Edits())
		if err != nil && canBuild(ctx, p, tree) {
			return diag.Explain(fmt.Errorf("with %s certificates, config/default can't be built, nothing was changed: %w", to, err),
				"change what is in the way first, such as certificates that the project manages itself")
		}
		reportCertManager(p, to, objects, len(report.Kept) > 0)
		p.ReportLost(report.Lost)
		if len(report.Kept) > 0 {
			p.Reportf(diag.Note, "kept, as other files in config/default use it: %s", strings.Join(report.Kept, ", "))
		}
		reportMissing(p, report.Missing)
		return p.Vendor(ctx, tree)
	}
}

// canBuild reports whether config/default can be built without the changes of the command.
func canBuild(ctx context.Context, p *action.Project, tree *worktree.Tree) bool {
	_, err := buildDefault(ctx, p, tree, nil)
	return err == nil
}

// buildDefault returns the objects of config/default with files replaced.
func buildDefault(ctx context.Context, p *action.Project, tree *worktree.Tree, edits map[string][]byte) ([]manifest.Object, error) {
	text, err := p.Remote.Build(ctx, tree.Root(), project.DefaultDir, edits)
	if err != nil {
		return nil, err
	}
	objects, problems := manifest.Decode(project.DefaultDir, text)
	return objects, problems.Err()
}

// reportCertManager reports objects that refer to cert-manager although webhooks have other certificates. kept is true for a project that
// has certificates of cert-manager for something else.
func reportCertManager(p *action.Project, to project.Certificates, objects []manifest.Object, kept bool) {
	if to == project.CertManager {
		return
	}
	var left []string
	for _, o := range objects {
		injected := manifest.TextAt(o.Fields, "metadata", "annotations", "cert-manager.io/inject-ca-from") != ""
		if injected || !kept && o.Group() == "cert-manager.io" {
			left = append(left, o.String())
		}
	}
	if len(left) > 0 {
		p.Reportf(diag.Warning, "these objects of config/default still refer to cert-manager, by files that you edited or that another tool wrote; "+
			"remove the references: %s", strings.Join(left, ", "))
	}
}

// reportMissing reports entries that the user must add to config/default.
func reportMissing(p *action.Project, missing []string) {
	if len(missing) > 0 {
		p.Reportf(diag.Warning, "config/default/kustomization.yaml lacks entries for webhooks; add: %s", strings.Join(missing, "; "))
	}
}
