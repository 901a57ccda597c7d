package action

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A deletion describes what a delete command removes.
type deletion struct {
	// subject is the API or the webhooks, in messages.
	subject string
	// removed is the part of a resource that is removed, kept the part that remains.
	removed, kept project.Resource
	// undone is the data of the create api commands that are undone.
	undone          []scaffold.Data
	force, generate bool
	// clean removes generated files that are no longer generated; remaining are the other resources. nil removes none.
	clean func(remaining []project.Resource) error
}

// delete runs a delete command.
func (p *Project) delete(ctx context.Context, layouts Layouts, generate bool,
	resolve func(tree *worktree.Tree, config *project.Config, header string) (deletion, error),
) (*Result, error) {
	result, err := p.Update(ctx, func(tree *worktree.Tree) error {
		config, err := p.Load(layouts)
		if err != nil {
			return err
		}
		header, _, err := p.header(tree)
		if err != nil {
			return err
		}
		d, err := resolve(tree, config, header)
		if err != nil {
			return err
		}
		if err := checkPaths(tree, config, func(r project.Resource) bool { return r.GVK == d.removed.GVK }); err != nil {
			return err
		}
		return p.applyDeletion(ctx, tree, config, header, d)
	})
	if err != nil {
		return nil, err
	}
	if generate {
		result.nextf("review what changed, then 'make test'")
	} else {
		result.nextf("'%s generate' for the code and manifests that --make=false left as they are", p.Program)
	}
	return result, nil
}

// applyDeletion removes a part of a resource from the tree.
func (p *Project) applyDeletion(ctx context.Context, tree *worktree.Tree, config *project.Config, header string, d deletion) error {
	remaining := slices.DeleteFunc(config.Resources(), func(other project.Resource) bool { return other.GVK == d.removed.GVK })
	complete := !d.kept.HasAPI() && !d.kept.HasController() && d.kept.Webhooks == nil
	if !complete {
		remaining = append(remaining, d.kept)
	}
	options := scaffold.Deletion{
		Force: d.force, Removed: d.undone, RemovedWebhooks: p.recordedWebhooks(config, d.removed, header),
		FromPeer: config.CLIVersion() != "",
	}
	written, err := p.writtenLines(ctx, config)
	if err != nil {
		return err
	}
	options.Written = written.Has
	for _, other := range remaining {
		options.Kept = append(options.Kept, p.recordedData(config, other, header)...)
		options.KeptWebhooks = append(options.KeptWebhooks, p.recordedWebhooks(config, other, header)...)
	}
	before, err := gosource.ReadModule(tree)
	if err != nil {
		return err
	}
	report, err := scaffold.Delete(tree, options)
	if err != nil {
		return err
	}
	if d.clean != nil {
		if err := d.clean(remaining); err != nil {
			return err
		}
	}
	if complete {
		err = config.RemoveResource(d.removed.GVK)
	} else {
		err = config.UpdateResource(d.kept)
	}
	if err != nil {
		return err
	}
	tree.WriteFile(project.FileName, config.Bytes(), 0o644)
	if _, err := scaffold.UpdateRequirements(tree); err != nil {
		return err
	}
	broken, err := refactor.NewErrors(ctx, tree, before, p.types())
	if err != nil {
		return err
	}
	if len(broken) > 0 {
		return &diag.Group{Heading: fmt.Sprintf("other code of the project uses %s, nothing was deleted:", d.subject), Err: broken, Advice: []string{"change it first"}}
	}
	if d.generate {
		if err := p.GenerateIn(ctx, tree, codegen.All); err != nil {
			return err
		}
	}
	p.reportLost(report.Lost)
	if len(report.Left) > 0 {
		p.reportf(diag.Warning, "these tests still expect the webhooks; edit them: %s", strings.Join(report.Left, ", "))
	}
	if complete && d.removed.Module != "" {
		p.reportf(diag.Warning, "go.mod still requires %s; 'go mod tidy' drops it if nothing else needs it", d.removed.Module)
	}
	if len(report.Kept) > 0 {
		p.reportf(diag.Note, "kept, as other files in config/default use it: %s", strings.Join(report.Kept, ", "))
	}
	return nil
}

// reportLost reports the places edited by the user that were deleted.
func (p *Project) reportLost(places diag.Findings) {
	var texts []string
	for _, place := range places {
		texts = append(texts, place.Error())
	}
	if len(texts) > 0 {
		p.reportf(diag.Warning, "deleted with their edits: %s", strings.Join(texts, ", "))
	}
}
