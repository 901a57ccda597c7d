package helmkinds

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/runtimekinds"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/rbac"
	"github.com/operon-sdk/operon/pkg/watches"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Generate implements Kinds. The other generators need code.
func (Kinds) Generate(ctx context.Context, p *action.Project, tree *worktree.Tree, config *project.Config, what codegen.Generators) error {
	if what&(codegen.CRD|codegen.RBAC) == 0 {
		return nil
	}
	return generateCharts(ctx, p, tree, config, map[string]*helmchart.Rendered{})
}

// generateCharts updates the CRDs of kinds with charts and the role of the manager. rendered contains charts that are rendered
// already, by their directories.
func generateCharts(ctx context.Context, p *action.Project, tree *worktree.Tree, config *project.Config, rendered map[string]*helmchart.Rendered) error {
	kinds, err := readChartKinds(tree, config)
	if err != nil {
		return err
	}
	scopes, err := writeCRDs(tree, config, kinds)
	if err != nil {
		return err
	}
	if tree.CheckConflicts() == nil {
		if err := updateSamples(ctx, p, tree, config, kinds); err != nil {
			return err
		}
	}
	rules, notes, err := chartRules(ctx, p, kinds, rendered)
	if err != nil {
		return err
	}
	if tree.CheckConflicts() == nil { // notes about a chart with conflicts would follow from these
		p.ReportFindings(diag.Note, append(scopes, notes...)...)
	}
	name := config.ChartsRole()
	role, err := tree.ReadFile(name)
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, diag.Cause(err))
	}
	rules, dropped := rbac.ForRole(name, role, rules, "the charts")
	p.ReportFindings(diag.Note, dropped...)
	updated, err := rbac.UpdateRole(name, role, rules, "the charts")
	if err != nil {
		return err
	}
	tree.WriteFile(name, updated, worktree.FileMode)
	return updateRelatedImages(ctx, p, tree, kinds, rendered)
}

// A chartKind is a kind of watches.yaml with its chart.
type chartKind struct {
	helmchart.ChartAPI
	resource project.Resource
	watch    watches.Watch
	// own reports whether the kind belongs to the project, which has its CRD. recorded reports whether PROJECT records the chart.
	own, recorded bool
}

// readChartKinds returns the kinds of watches.yaml with the files of their charts. Kinds of PROJECT without a chart are findings.
func readChartKinds(tree *worktree.Tree, config *project.Config) ([]chartKind, error) {
	list, err := readWatches(tree)
	if err != nil {
		return nil, err
	}
	var findings diag.Findings
	for _, r := range config.Resources() {
		if config.IsChart(r) && r.HasAPI() && !slices.ContainsFunc(list, func(w watches.Watch) bool { return w.GroupVersionKind() == runtimekinds.GVK(r) }) {
			findings.Addf(diag.Position{File: watches.FileName}, "no entry for %s; add one with its chart, or delete the API", r.GVK)
		}
	}
	if err := findings.Err(); err != nil {
		return nil, err
	}
	resources := map[rbac.GroupKind]string{}
	for _, crd := range slices.Backward(config.AllCRDNames()) {
		resources[rbac.GroupKind{Group: crd.Group, Kind: crd.Kind}] = crd.Plural
	}
	charts := map[string]helmchart.Files{}
	var kinds []chartKind
	for _, w := range list {
		dir := path.Clean(w.Chart)
		if charts[dir] == nil {
			if charts[dir], err = readChart(tree, dir, w.Position); err != nil {
				return nil, err
			}
		}
		kind := chartKind{watch: w}
		kind.resource, kind.own = runtimekinds.ResourceOf(config, w.GroupVersionKind())
		_, kind.recorded = config.Chart(path.Base(dir))
		kind.ChartAPI = helmchart.ChartAPI{
			Group: kind.resource.QualifiedGroup(), Plural: kind.resource.Plural, Dir: dir, Files: charts[dir], CRDs: w.CRDs, Tests: w.Test.Enable, Resources: resources,
		}
		for _, source := range w.ValuesFrom {
			kind.Sources = append(kind.Sources, rbac.Source{Kind: source.Kind, Name: source.Name})
		}
		for _, d := range w.DependsOn {
			kind.Dependencies = append(kind.Dependencies, rbac.Dependency{GroupKind: rbac.GroupKind{Group: d.Group, Kind: d.Kind}, Name: d.Name})
		}
		kinds = append(kinds, kind)
		if known := (rbac.GroupKind{Group: kind.Group, Kind: kind.resource.Kind}); kind.own && resources[known] == "" {
			resources[known] = kind.Plural // of the CRD that is written next
		}
	}
	return kinds, nil
}

// derivedRules is the content of a record of rules.
type derivedRules struct {
	Rules []rbac.Rule
	Notes diag.Findings
}

// chartRules returns the rules that charts require, and notes about them. rendered contains charts that are rendered already.
func chartRules(ctx context.Context, p *action.Project, kinds []chartKind, rendered map[string]*helmchart.Rendered) ([]rbac.Rule, diag.Findings, error) {
	var key []string
	for _, kind := range kinds {
		key = append(key, kind.Group, kind.Plural, kind.Dir, kind.CRDs, kind.Files.Digest(), fmt.Sprint(kind.Tests, kind.Resources, kind.Sources, kind.Dependencies)) // in the order of the keys
	}
	var derived derivedRules
	err := deriveOnce(p, action.RulesRecord, key, &derived, func() error {
		apis := make([]helmchart.ChartAPI, len(kinds))
		for i, kind := range kinds {
			apis[i] = kind.ChartAPI
			if rendered[kind.Dir] == nil {
				var err error
				if rendered[kind.Dir], err = helmchart.Explore(ctx, kind.Files, p.Charts.Render); err != nil {
					return fmt.Errorf("%s: %w", kind.Dir, err)
				}
			}
			apis[i].Rendered = rendered[kind.Dir]
		}
		derived.Rules, derived.Notes = helmchart.Rules(apis)
		return nil
	})
	return derived.Rules, derived.Notes, err
}

// readChart reads the files of the chart in a directory, to which a place in watches.yaml refers.
func readChart(tree *worktree.Tree, dir string, at diag.Position) (helmchart.Files, error) {
	if path.IsAbs(dir) || action.IsOutside(dir) {
		return nil, diag.Finding{Position: at, Problem: fmt.Sprintf("chart %q: must be a directory of the project", dir)}
	}
	files, err := action.ReadFiles(tree, dir)
	if err != nil {
		return nil, err
	}
	if files["Chart.yaml"] == nil {
		return nil, diag.Finding{Position: at, Problem: fmt.Sprintf("chart %q: the directory contains no Chart.yaml", dir),
			Fix: "correct the path, or restore the directory from version control"}
	}
	return files, nil
}

// writeCRDs writes the CRDs of the project's kinds, with all versions of a kind in one. The version of the last entry is stored. Other
// tools do not derive a schema from the chart: their CRDs may have the user's, and are kept, with notes about their scope.
func writeCRDs(tree *worktree.Tree, config *project.Config, kinds []chartKind) (notes diag.Findings, err error) {
	specs := map[string]*helmchart.CRDSpec{}
	var names []string
	for _, kind := range kinds {
		if !kind.own {
			continue
		}
		name, _ := action.CRDFile(tree, kind.resource)
		if current, err := tree.ReadOptional(name); err != nil {
			return nil, err
		} else if !kind.recorded && current != nil {
			if kind.watch.TargetNamespace.IsSet() {
				notes = append(notes, runtimekinds.CheckScope(name, current)...)
			}
			continue
		}
		if specs[name] == nil {
			crd, _ := config.CRDNames(kind.Group, kind.resource.Kind)
			specs[name] = &helmchart.CRDSpec{Group: kind.Group, Kind: kind.resource.Kind, Plural: kind.Plural, Singular: crd.Singular, ListKind: crd.ListKind}
			names = append(names, name)
		}
		specs[name].ClusterScoped = specs[name].ClusterScoped || kind.watch.TargetNamespace.IsSet()
		version := helmchart.CRDVersion{Name: kind.resource.Version, Chart: kind.Files, Open: kind.resource.OpenSchema}
		for _, o := range kind.watch.Outputs {
			version.Outputs = append(version.Outputs, helmchart.Output{Name: o.Name, Type: o.Type, Description: o.Description})
		}
		specs[name].Versions = append(specs[name].Versions, version)
	}
	for _, name := range names {
		content, err := helmchart.CRD(*specs[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := tree.Blocked(name); err != nil {
			return nil, err
		}
		tree.WriteFile(name, content, worktree.FileMode)
	}
	return notes, nil
}
