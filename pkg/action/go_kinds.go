package action

import (
	"context"

	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// GoKinds implements action.Kinds for the kinds of Go projects: kinds with Go types and, beside them, kinds with charts.
type GoKinds struct{}

// mixed are the kinds with charts of a Go project.
var mixed = ChartKinds{Mixed: true}

// A goAPI is a new API with Go types, or a controller of an API.
type goAPI struct {
	creation
	resource project.Resource
	// step is the next step of the user.
	step string
}

// AddKind implements Kinds.
func (GoKinds) AddKind(ctx context.Context, p *Project, config *project.Config, o CreateAPIOptions) (Addition, error) {
	if o.HasChart() {
		if reason := config.Facts().NoCharts; reason != "" {
			return nil, config.Refuse(reason)
		}
		return mixed.AddKind(ctx, p, config, o)
	}
	c := p.newAPI(o)
	resource, err := c.resource(p.files, config)
	return &goAPI{creation: c, resource: resource}, err
}

// newAPI describes what create api adds for a kind with Go types.
func (p *Project) newAPI(o CreateAPIOptions) creation {
	return creation{
		layouts: RecentLayouts, resolve: o.resolve, domain: o.Domain, module: o.ExternalModule, types: o.API,
		generate: o.generators(), next: "edit the types and the controller",
		write: func(tree *worktree.Tree, config *project.Config, r project.Resource, header string) (func(), error) {
			data := p.apiData(config, r, header, apiParts{
				api: o.API, controller: o.Controller, namespaced: o.Namespaced, controllerName: o.ControllerName, image: o.Image, ssa: o.SSA,
			})
			report, err := scaffold.CreateAPI(tree, data, o.Force)
			if err != nil {
				return nil, err
			}
			if o.DeploysImage() {
				if old, ok := config.Image(r.GVK); ok {
					scaffold.ReplaceImage(tree, data, old.Ref)
				}
				if err := config.SetImage(r.GVK, o.Image); err != nil {
					return nil, err
				}
			}
			return func() { p.reportKept(report) }, nil
		},
	}
}

// Apply implements Addition.
func (api *goAPI) Apply(ctx context.Context, p *Project, tree *worktree.Tree, config *project.Config) (err error) {
	api.step, err = p.applyCreation(ctx, tree, config, api.resource, api.creation)
	return err
}

// AddSteps implements Addition.
func (api *goAPI) AddSteps(_ *Project, result *Result) { result.nextf("%s", api.step) }

// RemoveKind implements Kinds.
func (GoKinds) RemoveKind(ctx context.Context, p *Project, tree *worktree.Tree, config *project.Config, r project.Resource, o DeleteAPIOptions) error {
	if config.IsChart(r) {
		if err := mixed.RemoveKind(ctx, p, tree, config, r, o); err != nil || config.HasCharts() {
			return err
		}
		return p.dropCharts(ctx, tree)
	}
	header, _, err := p.header(tree)
	if err != nil {
		return err
	}
	return p.applyDeletion(ctx, tree, config, header, p.deletionOf(ctx, tree, config, header, r, o))
}

// Generate implements Kinds.
func (GoKinds) Generate(ctx context.Context, p *Project, tree *worktree.Tree, config *project.Config, what codegen.Generators) error {
	if err := p.generateCode(ctx, tree, what); err != nil || config == nil || !config.HasCharts() {
		return err
	}
	return mixed.Generate(ctx, p, tree, config, what)
}

// Describe implements Kinds.
func (GoKinds) Describe(ctx context.Context, p *Project, tree *worktree.Tree, config *project.Config, dir string) ([]base.Kind, []codegen.API, error) {
	kinds, apis, err := p.apis(ctx, tree, config, dir)
	if err != nil {
		return nil, nil, err
	}
	releases, charts, err := mixed.Describe(ctx, p, tree, config, dir)
	return append(kinds, releases...), append(apis, charts...), err
}

// Generate implements Kinds. The other generators need code.
func (ChartKinds) Generate(ctx context.Context, p *Project, tree *worktree.Tree, config *project.Config, what codegen.Generators) error {
	if what&(codegen.CRD|codegen.RBAC) == 0 {
		return nil
	}
	return p.generateCharts(ctx, tree, config, map[string]*helmchart.Rendered{})
}

// Generate implements Kinds. The other generators need code.
func (AnsibleKinds) Generate(_ context.Context, p *Project, tree *worktree.Tree, config *project.Config, what codegen.Generators) error {
	if what&(codegen.CRD|codegen.RBAC) == 0 {
		return nil
	}
	return p.generateAnsible(tree, config)
}
