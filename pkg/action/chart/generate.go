package chart

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/operatorchart"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Options are the options of Generate.
type Options struct {
	// OutputDir contains the directory chart. Manifests is a file with the objects of the operator instead of config/default. Empty means what
	// PROJECT records, or else the defaults of package project.
	OutputDir, Manifests string
	// SeparateCRDs puts the CRDs into a chart of their own, or back; nil leaves them where they are.
	SeparateCRDs *bool
	// Force replaces edited files by generated ones, and takes over a chart of unknown origin.
	Force bool
	// Conflict is the side that decides conflicts: ours, theirs, or empty for conflict markers.
	Conflict string
}

// A Generator generates the chart of a project, and the one of its CRDs if that is separate.
type Generator struct {
	*action.Project
	options Options
	side    merge.Side
	// place is what PROJECT will record.
	place project.OperatorChart
	// name is the name of the project.
	name           string
	operator, crds *target
	// release and namespace are those with which the chart installs the objects of config/default.
	release, namespace string
}

// New validates the options. config is PROJECT, or nil for a new project.
func New(p *action.Project, config *project.Config, o Options) (*Generator, error) {
	g := &Generator{Project: p, options: o, place: project.OperatorChart{Manifests: project.DefaultInstaller, Output: project.DefaultChartOutput}}
	var recorded string
	var ok bool
	if config != nil {
		if g.place, ok = config.OperatorChart(); ok {
			recorded = g.place.Dir()
		}
	}
	var findings diag.Findings
	if g.side, ok = action.ConflictSides()[o.Conflict]; !ok {
		findings.Add("--conflict", o.Conflict, "must be ours or theirs")
	}
	for _, option := range []struct {
		flag, value string
		place       *string
	}{{"--output-dir", o.OutputDir, &g.place.Output}, {"--manifests", o.Manifests, &g.place.Manifests}} {
		rel, flag := *option.place, project.FileName
		if option.value != "" {
			var err error
			if rel, err = p.FromRoot(option.value); err != nil {
				rel = ".."
			}
			flag = option.flag
		}
		rel = path.Clean(rel)
		if path.IsAbs(rel) || action.IsOutside(rel) || !fs.ValidPath(rel) {
			findings.Add(flag, option.value, "must be in the project, whose repository is the chart's, too")
		}
		*option.place = rel
	}
	g.operator = &target{Generator: g, dir: g.place.Dir(), recorded: g.place.Dir() == recorded}
	g.crds = &target{Generator: g, dir: g.place.CRDsDir()}
	if within(g.operator.dir, project.ConfigDir) {
		findings.Add("--output-dir", o.OutputDir, "must not be in "+project.ConfigDir+", from which the chart is made")
	}
	return g, findings.Err()
}

func within(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

// Generate generates the chart of a project, and records it in PROJECT.
func Generate(ctx context.Context, p *action.Project, o Options) (*action.Result, error) {
	config, err := p.Load(action.ScaffoldedLayouts)
	if err != nil {
		return nil, err
	}
	g, err := New(p, config, o)
	if err != nil {
		return nil, err
	}
	result, err := p.Update(ctx, func(tree *worktree.Tree) error {
		config, err := p.Load(action.ScaffoldedLayouts)
		if err != nil {
			return err
		}
		return g.Apply(ctx, tree, config)
	})
	if err != nil {
		return nil, err
	}
	return result, g.Describe(result)
}

// Apply generates the charts into a tree, and records the operator's in PROJECT.
func (g *Generator) Apply(ctx context.Context, tree *worktree.Tree, config *project.Config) error {
	g.name = config.ProjectName()
	wasSeparate := tree.Exists(g.crds.baseFile())
	separate := wasSeparate
	if g.options.SeparateCRDs != nil {
		separate = *g.options.SeparateCRDs
	}
	operator, crds, err := g.make(ctx, tree, config, separate)
	if err != nil {
		return err
	}
	g.release, g.namespace = operator.Release()
	isNew, err := g.operator.apply(tree, operator)
	if err != nil {
		return err
	}
	switch {
	case separate:
		_, err = g.crds.apply(tree, crds)
	case wasSeparate:
		err = g.crds.remove(tree)
	}
	if err != nil {
		return err
	}
	if err := config.SetOperatorChart(g.place); err != nil {
		return err
	}
	tree.WriteFile(project.FileName, config.Bytes(), worktree.FileMode)
	if !isNew {
		return nil
	}
	data := g.ProjectData(config, "")
	data.Chart = scaffold.Chart{Dir: g.operator.dir, Release: g.release, Namespace: g.namespace}
	return scaffold.AddChart(tree, data)
}

// make returns the charts of the current manifests. The one of the CRDs is nil if it isn't separate.
func (g *Generator) make(ctx context.Context, tree *worktree.Tree, config *project.Config, separate bool) (operator, crds *operatorchart.Chart, err error) {
	o := operatorchart.Options{Name: config.ProjectName()}
	if o.Objects, err = g.objects(ctx, tree); err != nil {
		return nil, nil, err
	}
	if o.Offered, err = g.offered(ctx, tree); err != nil {
		g.Reportf(diag.Warning, "the chart offers neither a ServiceMonitor nor network policies: %v", err)
	}
	o.Offered = operatorchart.Added(o.Objects, o.Offered)
	if separate {
		return operatorchart.MakeSeparate(o)
	}
	operator, err = operatorchart.Make(o)
	return operator, nil, err
}

// objects returns what the operator consists of.
func (g *Generator) objects(ctx context.Context, tree *worktree.Tree) ([]manifest.Object, error) {
	if g.place.Manifests != project.DefaultInstaller {
		text, err := tree.ReadFile(g.place.Manifests)
		if err != nil {
			return nil, diag.Findings{{Field: "--manifests", Value: g.place.Manifests, Problem: diag.Cause(err).Error()}}
		}
		return decode(g.place.Manifests, text)
	}
	dir := path.Dir(project.DefaultKustomization)
	if !slices.ContainsFunc(manifest.KustomizationFiles(), func(name string) bool { return tree.Exists(path.Join(dir, name)) }) {
		return nil, diag.Finding{Position: diag.Position{File: dir}, Problem: "has no kustomization to make the chart from",
			Fix: "pass the operator's manifests with --manifests FILE"}
	}
	return g.build(ctx, tree, nil)
}

// offered returns the objects that config/default can install but doesn't.
func (g *Generator) offered(ctx context.Context, tree *worktree.Tree) ([]manifest.Object, error) {
	kustomization, err := tree.ReadOptional(project.DefaultKustomization)
	if err != nil || kustomization == nil {
		return nil, err
	}
	dir := path.Dir(project.DefaultKustomization)
	more := operatorchart.WithOffered(kustomization, func(name string) bool { return tree.Exists(path.Join(dir, name)) })
	if more == nil {
		return nil, nil
	}
	all, err := g.build(ctx, tree, map[string][]byte{project.DefaultKustomization: more})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(o manifest.Object) bool { return o.Kind() != "ServiceMonitor" && o.Kind() != "NetworkPolicy" }), nil
}

// build builds config/default with files replaced.
func (g *Generator) build(ctx context.Context, tree *worktree.Tree, files map[string][]byte) ([]manifest.Object, error) {
	edits := maps.Clone(tree.Edits())
	if edits == nil {
		edits = map[string][]byte{}
	}
	maps.Copy(edits, files)
	dir := path.Dir(project.DefaultKustomization)
	text, err := g.Remote.Build(ctx, tree.Root(), dir, edits)
	if err != nil {
		return nil, fmt.Errorf("building %s: %w", dir, err)
	}
	return decode(dir, text)
}

func decode(name string, text []byte) ([]manifest.Object, error) {
	objects, problems := manifest.Decode(name, text)
	return objects, problems.Err()
}

// Describe adds to the result of a command what the user must know about the charts. It returns an error about conflicts.
func (g *Generator) Describe(result *action.Result) error {
	var conflicts []string
	for _, t := range []*target{g.operator, g.crds} {
		if t.merged != nil {
			conflicts = append(conflicts, t.describe(result)...)
		}
	}
	if len(conflicts) > 0 {
		return g.ConflictError("the generated chart", conflicts, fmt.Sprintf("'%s generate chart'", g.Program))
	}
	if len(result.Changes) == 0 {
		return nil
	}
	if g.crds.merged != nil {
		result.AddStepf("install the CRDs with 'helm install %s-crds %s --namespace %s --create-namespace'", g.release, g.crds.dir, g.namespace)
	}
	result.AddStepf("install the chart with 'helm install %s %s --namespace %s --create-namespace'", g.release, g.operator.dir, g.namespace)
	return nil
}
