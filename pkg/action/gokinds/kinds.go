package gokinds

import (
	"context"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/helmkinds"
	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Kinds implements action.Kinds for the kinds of Go projects: kinds with Go types and, beside them, kinds with charts.
type Kinds struct{}

// mixed are the kinds with charts of a Go project.
var mixed = helmkinds.Kinds{Mixed: true}

// A goAPI is a new API with Go types, or a controller of an API.
type goAPI struct {
	creation
	resource project.Resource
	// step is the next step of the user, or "". controller reports whether there is a new controller to try, and generated whether its
	// code and manifests are generated.
	step                  string
	controller, generated bool
}

// AddKind implements Kinds.
func (Kinds) AddKind(ctx context.Context, p *action.Project, config *project.Config, o action.CreateAPIOptions) (action.Addition, error) {
	if o.HasChart() {
		if reason := config.Facts().NoCharts; reason != "" {
			return nil, config.Refuse(reason)
		}
		return mixed.AddKind(ctx, p, config, o)
	}
	c := newAPI(p, o)
	resource, err := c.resource(p.Files, config)
	return &goAPI{creation: c, resource: resource, controller: o.Controller}, err
}

// newAPI describes what create api adds for a kind with Go types.
func newAPI(p *action.Project, o action.CreateAPIOptions) creation {
	return creation{
		layouts: action.RecentLayouts, resolve: o.Resolve, domain: o.Domain, module: o.ExternalModule, types: o.API,
		generate: o.Generators(),
		write: func(tree *worktree.Tree, config *project.Config, r project.Resource, header string) (written, error) {
			data := p.APIData(config, r, header, action.APIParts{
				API: o.API, Controller: o.Controller, Namespaced: o.Namespaced, ControllerName: o.ControllerName, Image: o.Image,
				SSA: o.SSA || o.API && r.API.SSA, From: o.Source(config, r),
			})
			report, err := scaffold.CreateAPI(tree, data, o.Force)
			if err != nil {
				return written{}, err
			}
			if o.DeploysImage() {
				if old, ok := config.Image(r.GVK); ok {
					scaffold.ReplaceImage(tree, data, old.Ref)
				}
				if err := config.SetImage(r.GVK, o.Image); err != nil {
					return written{}, err
				}
			}
			result := written{report: func() {
				if from := data.Resource.From.Version; from != "" {
					p.Reportf(diag.Note, "the types are copies of version %s", from)
				}
				p.ReportKept(report)
			}}
			if len(report.ToEdit) > 0 {
				result.next = "edit " + strings.Join(report.ToEdit, " and ")
			}
			return result, nil
		},
	}
}

// Apply implements Addition.
func (api *goAPI) Apply(ctx context.Context, p *action.Project, tree *worktree.Tree, config *project.Config) (err error) {
	api.step, api.generated, err = applyCreation(ctx, p, tree, config, api.resource, api.creation)
	return err
}

// AddSteps implements Addition.
func (api *goAPI) AddSteps(p *action.Project, result *action.Result) {
	if api.step != "" {
		result.AddStepf("%s", api.step)
	}
	if api.generated && api.controller {
		result.AddStepf("'%s run local --control-plane embedded --samples' to run the operator without a cluster", p.Program)
	}
}

// RemoveKind implements Kinds.
func (Kinds) RemoveKind(ctx context.Context, p *action.Project, tree *worktree.Tree, config *project.Config, r project.Resource, o action.DeleteAPIOptions) error {
	if config.IsChart(r) {
		if err := mixed.RemoveKind(ctx, p, tree, config, r, o); err != nil || config.HasCharts() {
			return err
		}
		return helmkinds.DropCharts(ctx, p, tree)
	}
	header, _, err := p.Header(tree)
	if err != nil {
		return err
	}
	return applyDeletion(ctx, p, tree, config, header, deletionOf(ctx, p, tree, config, header, r, o))
}

// Generate implements Kinds.
func (Kinds) Generate(ctx context.Context, p *action.Project, tree *worktree.Tree, config *project.Config, what codegen.Generators) error {
	if err := generateCode(ctx, p, tree, what); err != nil || config == nil || !config.HasCharts() {
		return err
	}
	return mixed.Generate(ctx, p, tree, config, what)
}

// Describe implements Kinds.
func (Kinds) Describe(ctx context.Context, p *action.Project, tree *worktree.Tree, config *project.Config, dir string) ([]base.Kind, []codegen.API, error) {
	kinds, apis, err := describeTypes(ctx, p, tree, config, dir)
	if err != nil {
		return nil, nil, err
	}
	releases, charts, err := mixed.Describe(ctx, p, tree, config, dir)
	return append(kinds, releases...), append(apis, charts...), err
}
