package helmkinds

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/runtimekinds"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// AddSteps implements Addition.
func (api *helmAPI) AddSteps(p *action.Project, result *action.Result) {
	result.AddStepf("edit the chart in %s, then '%s generate'", api.dir, p.Program)
}

// Apply implements Addition.
func (api *helmAPI) Apply(ctx context.Context, p *action.Project, tree *worktree.Tree, config *project.Config) error {
	resource := api.resource
	if err := api.writeChart(tree); err != nil {
		return err
	}
	header, _, err := p.Header(tree)
	if err != nil {
		return err
	}
	report, err := scaffold.CreateKind(tree, chartData(p, config, resource, header), false)
	if err != nil {
		return err
	}
	if !config.HasCharts() {
		if err := requireOperon(ctx, p, tree); err != nil {
			return err
		}
		if err := config.CompletePaths(); err != nil {
			return err
		}
	}
	if err := addWatch(tree, resource, api.dir, api.Force); err != nil {
		return err
	}
	if err := writeSample(ctx, p, tree, config, resource, api); err != nil {
		return err
	}
	if err := config.UpdateResource(resource); err != nil {
		return err
	}
	if err := config.SetChart(chartRecord(p, api.chart)); err != nil {
		return err
	}
	tree.WriteFile(project.FileName, config.Bytes(), worktree.FileMode)
	if problem := api.rendered.DefaultError(); problem != "" {
		p.Reportf(diag.Warning, "the templates of the chart fail with its default values, so that %s may lack permissions: %s", config.ChartsRole(), problem)
	}
	p.ReportKept(report)
	if api.Chart.RelatedImages {
		if err := relateNewImages(ctx, p, tree, config, runtimekinds.GVK(resource), api.rendered); err != nil {
			return err
		}
	}
	return generateCharts(ctx, p, tree, config, map[string]*helmchart.Rendered{api.dir: api.rendered})
}

// writeChart writes the files of the chart. Other content in its directory is a conflict, unless the chart was read from there.
// With Force, the chart replaces the content.
func (api *helmAPI) writeChart(tree *worktree.Tree) error {
	existing, err := tree.Walk(api.dir, nil)
	if err != nil {
		return err
	}
	var conflicts []string
	for _, name := range existing {
		content, wanted := api.chart.Files[strings.TrimPrefix(name, api.dir+"/")]
		switch {
		case wanted:
			current, err := tree.ReadFile(name)
			if err != nil {
				return err
			}
			if !bytes.Equal(current, content) {
				conflicts = append(conflicts, name)
			}
		case !api.inPlace:
			conflicts = append(conflicts, name)
			if api.Force {
				tree.Remove(name)
			}
		}
	}
	if len(conflicts) > 0 && !api.Force {
		return &scaffold.ConflictError{Places: scaffold.InTheWay(conflicts...), Hint: "pass --force to replace the chart in " + api.dir + ", or move it away"}
	}
	for _, name := range slices.Sorted(maps.Keys(api.chart.Files)) {
		file := path.Join(api.dir, name)
		if err := tree.Blocked(file); err != nil {
			return err
		}
		tree.WriteFile(file, api.chart.Files[name], worktree.FileMode)
	}
	return nil
}

// chartRecord returns the record of a chart in PROJECT. Relative paths are relative to the project there, and absolute ones, which
// depend on the machine, are left out.
func chartRecord(p *action.Project, chart *helmchart.FetchAnswer) project.Chart {
	origin := chart.Origin
	if _, err := p.FS.Stat(p.Absolute(origin.Chart)); err == nil && origin.Chart != "" && origin.Repo == "" {
		rel, err := p.FromRoot(origin.Chart)
		if err != nil || filepath.IsAbs(origin.Chart) && action.IsOutside(rel) {
			rel = ""
		}
		origin.Chart = rel
	}
	return project.Chart{
		Name: chart.Chart.Name, Source: origin.Chart, Repo: origin.Repo, Version: origin.Version, Digest: origin.Digest,
		Files: chart.Files.Digest(),
	}
}

// sampleSpec describes the sample of a kind.
func sampleSpec(config *project.Config, r project.Resource, chart helmchart.Files, full bool) helmchart.SampleSpec {
	return helmchart.SampleSpec{
		APIVersion: r.QualifiedGroup() + "/" + r.Version, Kind: r.Kind, Chart: chart, Full: full,
		Labels: map[string]string{"app.kubernetes.io/name": config.ProjectName(), "app.kubernetes.io/managed-by": "kustomize"},
	}
}

// writeSample writes the sample of a kind.
func writeSample(ctx context.Context, p *action.Project, tree *worktree.Tree, config *project.Config, r project.Resource, api *helmAPI) error {
	spec := sampleSpec(config, r, api.chart.Files, api.Chart.FullSample)
	var err error
	if api.rendered.DefaultError() != "" {
		if spec.Examples, err = requiredExamples(ctx, p, api.chart.Files, nil); err != nil {
			return fmt.Errorf("chart %s: %w", api.chart.Chart.Name, err)
		}
	}
	sample, err := helmchart.Sample(spec)
	if err != nil {
		return fmt.Errorf("chart %s: %w", api.chart.Chart.Name, err)
	}
	name := scaffold.SampleFile(r)
	if err := tree.Blocked(name); err != nil {
		return err
	}
	current, err := tree.ReadOptional(name)
	if err != nil {
		return err
	}
	if current != nil && !bytes.Equal(current, sample) && !api.Force {
		return &scaffold.ConflictError{Places: scaffold.InTheWay(name), Hint: "pass --force to replace it, or move it away"}
	}
	tree.WriteFile(name, sample, worktree.FileMode)
	return nil
}
