package helmkinds

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/runtimekinds"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
)

// The defaults of the API of a kind whose chart is given.
const (
	defaultChartGroup   = "charts"
	defaultChartVersion = "v1alpha1"
)

// A helmAPI is a new kind with its chart.
type helmAPI struct {
	action.CreateAPIOptions
	resource project.Resource
	chart    *helmchart.FetchAnswer
	rendered *helmchart.Rendered
	// dir is the directory of the chart in the project. inPlace reports whether the chart was read from it.
	dir     string
	inPlace bool
}

// Kinds implements action.Kinds for kinds whose objects are releases of charts.
type Kinds struct {
	// Mixed means that the project has kinds with Go types beside them.
	Mixed bool
}

// AddKind implements Kinds: it validates the options, fetches the chart and renders it.
func (k Kinds) AddKind(ctx context.Context, p *action.Project, config *project.Config, o action.CreateAPIOptions) (action.Addition, error) {
	if err := k.check(config, o).Err(); err != nil {
		return nil, err
	}
	request := helmchart.FetchRequest{
		Chart: o.Chart.Source, Repo: o.Chart.Repo, Version: o.Chart.Version, Offline: p.Go.Offline,
	}
	if o.Chart.Source == "" {
		request = helmchart.FetchRequest{Starter: strings.ToLower(o.Kind)}
	}
	chart, err := p.Charts.Fetch(ctx, request)
	if err != nil {
		return nil, err
	}
	for _, warning := range chart.Warnings {
		p.Reportf(diag.Warning, "%s", warning)
	}
	api := &helmAPI{CreateAPIOptions: k.withNames(config, o, chart.Chart.Name), chart: chart, dir: path.Join(project.ChartsDir, chart.Chart.Name)}
	api.inPlace = o.Chart.Source != "" && p.Absolute(o.Chart.Source) == filepath.Join(p.Root, filepath.FromSlash(api.dir))
	if api.resource, err = api.resolveHelm(config); err != nil {
		return nil, err
	}
	if api.rendered, err = helmchart.Explore(ctx, chart.Files, p.Charts.Render); err != nil {
		return nil, err
	}
	return api, checkOwnKind(api.resource, api.rendered).Err()
}

// withNames returns the options with the names that a chart and the project give.
func (k Kinds) withNames(config *project.Config, o action.CreateAPIOptions, chart string) action.CreateAPIOptions {
	if o.Group == "" && (k.Mixed || o.Chart.Source != "") {
		o.Group = k.defaultGroup(config)
	}
	if o.Chart.Source != "" {
		o.Version = cmp.Or(o.Version, defaultChartVersion)
		o.Kind = cmp.Or(o.Kind, kindOfChart(chart))
	}
	return o
}

// defaultGroup returns the default group of a kind with a chart. In a Go project with one group, it is that group,
// which is empty if it equals the domain of the project.
func (k Kinds) defaultGroup(config *project.Config) string {
	if k.Mixed && !config.MultiGroup() {
		for _, r := range config.Resources() {
			if r.HasAPI() {
				return r.Group
			}
		}
	}
	return defaultChartGroup
}

// kindOfChart returns the name of a chart as a kind: NginxIngress for nginx-ingress.
func kindOfChart(chart string) string {
	var kind strings.Builder
	for word := range strings.FieldsFuncSeq(chart, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		kind.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return kind.String()
}

// check validates the options before the chart is fetched.
func (k Kinds) check(config *project.Config, o action.CreateAPIOptions) diag.Findings {
	findings := slices.Concat(o.Findings, o.Plugins.CheckKinds())
	if !k.Mixed && (o.Plugins.ForGo() || o.Plugins.DeployImage) {
		findings.Add("--plugins", o.Plugins.String(), "is for Go projects; this is a Helm project")
	}
	if k.Mixed && o.Chart.Source == "" && !o.Plugins.WithoutGo() {
		findings.Add("--helm-chart", "", "is required with the other flags of a chart; or pass --plugins helm for a new chart")
	}
	if o.Chart.Source == "" {
		for _, f := range []struct{ flag, value string }{{"--helm-chart-repo", o.Chart.Repo}, {"--helm-chart-version", o.Chart.Version}} {
			if f.value != "" {
				findings.Add(f.flag, f.value, "requires --helm-chart")
			}
		}
		if o.Kind == "" {
			findings.Add("--kind", "", "is required; or pass a chart with --helm-chart, from whose name it is derived")
		}
	}
	named := k.withNames(config, o, "")
	if named.Kind != "" {
		_, others := project.ResolveResource(config, runtimekinds.ResourceOptions(named))
		return append(findings, others...)
	}
	// The other names are checked even if the kind is not known yet.
	findings = append(findings, project.CheckGroup(named.Group, config.Domain())...)
	if named.Version != "" || o.Chart.Source == "" {
		findings = append(findings, project.CheckVersion(named.Version)...)
	}
	return findings
}

// resolveHelm returns the resource of a kind in PROJECT.
func (api *helmAPI) resolveHelm(config *project.Config) (project.Resource, error) {
	r, findings := project.ResolveResource(config, runtimekinds.ResourceOptions(api.CreateAPIOptions))
	for i, f := range findings {
		if f.Field == "--kind" && f.Value == kindOfChart(api.chart.Chart.Name) {
			findings[i].Problem = fmt.Sprintf("%s; it is derived from the name of the chart; pass another one with --kind", f.Problem)
		}
	}
	if recorded, ok := config.Resource(r.GVK); ok && !config.IsChart(recorded) {
		findings = diag.Findings{{Field: "--kind", Value: r.Kind, Problem: fmt.Sprintf("%s has Go types; choose another kind, or delete the API", r.GVK)}}
	}
	r.OpenSchema = api.Chart.OpenSchema
	return r, findings.Err()
}

// checkOwnKind returns a finding if the chart installs objects of its own kind: each release would create another one.
func checkOwnKind(r project.Resource, rendered *helmchart.Rendered) diag.Findings {
	objects := slices.Clone(rendered.CRDs)
	for _, set := range rendered.Sets {
		objects = append(objects, set.Objects...)
	}
	for _, o := range objects {
		kind := manifest.TextAt(o.Object, "kind")
		group, _, _ := strings.Cut(manifest.TextAt(o.Object, "apiVersion"), "/")
		switch {
		case kind == r.Kind && group == r.QualifiedGroup():
			return diag.Findings{{Field: "--kind", Value: r.Kind, Problem: fmt.Sprintf(
				"%s of the chart creates objects of this kind, and each of them would be another release; choose another kind or group", o.Template)}}
		case kind == "CustomResourceDefinition" && manifest.TextAt(o.Object, "metadata", "name") == r.CRDName():
			return diag.Findings{{Field: "--kind", Value: r.Kind, Problem: fmt.Sprintf(
				"%s of the chart defines %s, too; choose another kind or group", o.Template, r.CRDName())}}
		}
	}
	return nil
}
