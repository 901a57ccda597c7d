package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

func newDelete(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "delete",
		Short: "Delete an API or webhooks from the project",
		Example: fmt.Sprintf(`  %[1]s delete api --group cache --version v1alpha1 --kind Memcached
  %[1]s delete webhook --group cache --version v1alpha1 --kind Memcached`, a.program),
		Args: noArgs,
		RunE: showHelp,
	}
	c.AddCommand(newDeleteAPI(a), newDeleteWebhook(a))
	return c
}

// removal is what one of the delete commands takes away.
type removal struct {
	// what names it for people: the API, the webhooks.
	what string
	// going is the part of a resource that goes, left the part that stays.
	going, left project.Resource
	// undone is the data of the create api commands that are undone.
	undone      []scaffold.Data
	force, make bool
	// clean takes generated files away that nothing makes any more.
	clean func(staying []project.Resource) error
}

// delete takes a part of a resource out of the tree.
func (a *app) delete(ctx context.Context, tree *worktree.Tree, resolve func(*project.Config, string) (removal, error)) error {
	config, err := loadOlderProject(tree)
	if err != nil {
		return err
	}
	header, err := a.boilerplate(tree)
	if err != nil {
		return err
	}
	r, err := resolve(config, header)
	if err != nil {
		return err
	}
	staying := slices.DeleteFunc(config.Resources(), func(other project.Resource) bool { return other.GVK == r.going.GVK })
	whole := !r.left.HasAPI() && !r.left.HasController() && r.left.Webhooks == nil
	if !whole {
		staying = append(staying, r.left)
	}
	d := scaffold.Deletion{Force: r.force, Removed: r.undone, RemovedWebhooks: a.recordedWebhooks(config, r.going, header)}
	for _, other := range staying {
		d.Kept = append(d.Kept, a.recordedData(config, other, header)...)
		d.KeptWebhooks = append(d.KeptWebhooks, a.recordedWebhooks(config, other, header)...)
	}
	before, err := refactor.ReadCode(tree)
	if err != nil {
		return err
	}
	report, err := scaffold.Delete(tree, d)
	if err != nil {
		return err
	}
	if err := r.clean(staying); err != nil {
		return err
	}
	if whole {
		err = config.RemoveResource(r.going.GVK)
	} else {
		err = config.UpdateResource(r.left)
	}
	if err != nil {
		return err
	}
	tree.WriteFile(project.FileName, config.Bytes(), 0o644)
	if _, err := scaffold.UpdateRequirements(tree); err != nil {
		return err
	}
	if err := a.checkUnused(ctx, tree, before, r.what); err != nil {
		return err
	}
	if r.make {
		if err := a.generate(ctx, tree, codegen.All); err != nil {
			return err
		}
	}
	if len(report.Lost) > 0 {
		a.warnf("deleted with what was edited there: %s", strings.Join(report.Lost, ", "))
	}
	if len(report.Left) > 0 {
		a.warnf("these tests still expect the webhooks, take that out of them: %s", strings.Join(report.Left, ", "))
	}
	if whole && r.going.Module != "" {
		a.warnf("go.mod still requires %s; 'go mod tidy' drops it if nothing else needs it", r.going.Module)
	}
	if len(report.Kept) > 0 {
		a.notef("kept, as something else in config/default uses it: %s", strings.Join(report.Kept, ", "))
	}
	return nil
}

// deletedNext prints what to do after a deletion.
func (a *app) deletedNext(generated bool) {
	if generated {
		a.nextf("review what changed, then 'make test'")
		return
	}
	a.nextf("'%s generate' for the code and manifests that --make=false left as they are", a.program)
}

// findResource finds the resource of PROJECT that the flags name.
func findResource(config *project.Config, group, version, kind string) (project.Resource, error) {
	fillNames(config, &group, &version, kind)
	if findings := requireNames(config, version, kind); len(findings) > 0 {
		return project.Resource{}, findings
	}
	for _, r := range config.Resources() {
		if r.Group == group && r.Version == version && r.Kind == kind {
			return r, nil
		}
	}
	return project.Resource{}, missingAPI(config, project.GVK{Group: group, Domain: config.Domain(), Version: version, Kind: kind})
}

// hubOf finds the version that another one converts to and from.
func hubOf(config *project.Config, spoke project.Resource) (project.Resource, bool) {
	for _, r := range config.Resources() {
		if r.Webhooks != nil && r.Group == spoke.Group && r.Domain == spoke.Domain && r.Kind == spoke.Kind && slices.Contains(r.Webhooks.Spoke, spoke.Version) {
			return r, true
		}
	}
	return project.Resource{}, false
}

// checkUnused refuses a deletion after which code that compiled does not any more.
func (a *app) checkUnused(ctx context.Context, tree *worktree.Tree, before *refactor.Code, what string) error {
	broken, err := refactor.NewErrors(ctx, tree, before, a.goTool())
	if err != nil || len(broken) == 0 {
		return err
	}
	return fmt.Errorf("other code of the project uses %s, nothing was deleted:\n%w\nchange it first", what, broken)
}
