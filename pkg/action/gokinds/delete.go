package gokinds

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
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

// deletePart runs a delete command.
func deletePart(ctx context.Context, p *action.Project, layouts action.Layouts, generate bool,
	resolve func(tree *worktree.Tree, config *project.Config, header string) (deletion, error),
) (*action.Result, error) {
	result, err := p.Update(ctx, func(tree *worktree.Tree) error {
		config, err := p.Load(layouts)
		if err != nil {
			return err
		}
		header, _, err := p.Header(tree)
		if err != nil {
			return err
		}
		d, err := resolve(tree, config, header)
		if err != nil {
			return err
		}
		if err := action.CheckPaths(tree, config, func(r project.Resource) bool { return r.GVK == d.removed.GVK }); err != nil {
			return err
		}
		return applyDeletion(ctx, p, tree, config, header, d)
	})
	if err != nil {
		return nil, err
	}
	if generate {
		result.AddStepf("review what changed, then 'make test'")
	} else {
		result.AddStepf("'%s generate' for the code and manifests that --make=false left as they are", p.Program)
	}
	return result, nil
}

// applyDeletion removes a part of a resource from the tree.
func applyDeletion(ctx context.Context, p *action.Project, tree *worktree.Tree, config *project.Config, header string, d deletion) error {
	remaining := slices.DeleteFunc(config.Resources(), func(other project.Resource) bool { return other.GVK == d.removed.GVK })
	complete := !d.kept.HasAPI() && !d.kept.HasController() && d.kept.Webhooks == nil
	if !complete {
		remaining = append(remaining, d.kept)
	}
	options := scaffold.Deletion{
		Force: d.force, Removed: d.undone, RemovedWebhooks: p.RecordedWebhooks(config, d.removed, header),
		FromPeer: config.CLIVersion() != "",
	}
	written, err := findWrittenLines(ctx, p, config)
	if err != nil {
		return err
	}
	options.Written = written.Has
	for _, other := range remaining {
		options.Kept = append(options.Kept, p.RecordedAPIs(config, other, header)...)
		options.KeptWebhooks = append(options.KeptWebhooks, p.RecordedWebhooks(config, other, header)...)
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
	broken, err := refactor.NewErrors(ctx, tree, before, p.Types())
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
	p.ReportLost(report.Lost)
	if len(report.Left) > 0 {
		p.Reportf(diag.Warning, "these tests still expect the webhooks; edit them: %s", strings.Join(report.Left, ", "))
	}
	if complete && d.removed.Module != "" {
		p.Reportf(diag.Warning, "go.mod still requires %s; 'go mod tidy' drops it if nothing else needs it", d.removed.Module)
	}
	if len(report.Kept) > 0 {
		p.Reportf(diag.Note, "kept, as other files in config/default use it: %s", strings.Join(report.Kept, ", "))
	}
	return nil
}

// deletionOf describes what delete api removes for a kind of Go projects.
func deletionOf(ctx context.Context, p *action.Project, tree *worktree.Tree, config *project.Config, header string, r project.Resource, o action.DeleteAPIOptions) deletion {
	removed, kept := r, r
	kept.Controllers, kept.API, kept.Webhooks = nil, nil, nil
	// What is kept may result from the command that created both.
	undone := withCopies(tree, config, r, p.RecordedAPIs(config, r, header))
	if o.ControllerName != "" {
		removed.API, removed.Webhooks, removed.Controllers = nil, nil, []string{o.ControllerName}
		kept = r
		kept.Controllers = slices.DeleteFunc(slices.Clone(r.Controllers), func(name string) bool { return name == o.ControllerName })
		undone = slices.DeleteFunc(undone, func(data scaffold.Data) bool {
			return !data.Resource.Controller || data.Resource.ControllerName != o.ControllerName
		})
	}
	return deletion{
		subject: "the API", removed: removed, kept: kept, force: o.Force, generate: o.Generate, undone: undone,
		clean: func(remaining []project.Resource) error {
			return removeGenerated(ctx, p, tree, config, removed, remaining, o.Generate, header)
		},
	}
}

// withCopies adds the commands that began the types, without a controller, with a copy of another version.
func withCopies(tree *worktree.Tree, config *project.Config, r project.Resource, recorded []scaffold.Data) []scaffold.Data {
	types := slices.IndexFunc(recorded, func(data scaffold.Data) bool { return data.Resource.API && data.Image.Ref == "" })
	if types < 0 {
		return recorded
	}
	data := recorded[types]
	data.Resource.Controller = false
	for _, other := range config.OtherVersions(r.GVK) {
		data.Resource.From = scaffold.Source{Version: other.Version, Package: other.Path}
		if _, err := scaffold.APIFiles(tree, data); err == nil { // that version can be copied
			recorded = append(recorded, data)
		}
	}
	return recorded
}

// removeGenerated removes files that are no longer generated, and the marker of the stored version if only one version of the
// kind remains.
func removeGenerated(
	ctx context.Context, p *action.Project, tree *worktree.Tree, config *project.Config, removed project.Resource, remaining []project.Resource, generate bool, header string,
) error {
	controllers := false
	var versions []string
	samePackage := false
	for _, other := range remaining {
		controllers = controllers || other.HasController()
		if !other.HasAPI() || other.QualifiedGroup() != removed.QualifiedGroup() {
			continue
		}
		samePackage = samePackage || other.Path == removed.Path
		if other.Kind == removed.Kind {
			versions = append(versions, path.Join(strings.TrimPrefix(other.Path, config.Repo()+"/"), other.FileStem()+"_types.go"))
		}
	}
	if !controllers && generate {
		role, err := scaffold.InitialFile(project.RoleFile, p.ProjectData(config, header))
		if err != nil {
			return err
		}
		if tree.Exists(project.RoleFile) {
			tree.WriteFile(project.RoleFile, role, 0o644)
		}
	}
	if !removed.HasAPI() {
		return nil
	}
	if len(versions) == 0 {
		dirs, err := crdDirs(tree)
		if err != nil {
			return err
		}
		for _, dir := range dirs {
			tree.RemoveIfExists(path.Join(dir, removed.CRDFile()))
		}
	}
	dir := strings.TrimPrefix(removed.Path, config.Repo()+"/")
	if !samePackage && !tree.Exists(path.Join(dir, "groupversion_info.go")) {
		tree.RemoveIfExists(path.Join(dir, "zz_generated.deepcopy.go"))
	}
	if err := scaffold.DisableApply(tree, dir); err != nil {
		return err
	}
	if generate || !samePackage {
		if err := scaffold.DropApply(tree, dir); err != nil {
			return err
		}
	}
	if generate && samePackage { // other types may have apply configurations, too
		if err := p.GenerateIn(ctx, tree, codegen.ApplyConfiguration); err != nil {
			return err
		}
	}
	slices.Sort(versions)
	return scaffold.RemoveStorageMarker(tree, removed.Kind, versions)
}
