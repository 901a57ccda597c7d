package release

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"

	"github.com/operon-sdk/operon/pkg/helmchart/variant"
)

// An Output is the result of a template: a text or an error.
type Output struct {
	Text string
	Err  error
}

// outputPrefix is the prefix of the names of templates of outputs in a chart.
const outputPrefix = "templates/operon-output-"

// Outputs evaluates templates by name, with the values, the chart and its named templates as the deployed revision sees them. They can't
// read the cluster, and a random content or the time is an error, as it would be another one than in the release. The error is one that
// says nothing about a single template.
func (r *Release) Outputs(ctx context.Context, templates map[string]string, deployed *Deployed) (map[string]Output, error) {
	capabilities, err := r.factory.capabilities.get(r.factory.discovery)
	if err != nil {
		return nil, err
	}
	if r.options.Chart == nil {
		return nil, r.errorf("the chart is required")
	}
	chart, values := copyChart(r.options.Chart), copyMap(r.options.Values)
	if err := chartutil.ProcessDependencies(chart, values); err != nil {
		return nil, r.errorf("read the dependencies of the chart: %w", err)
	}
	hideTemplates(chart)
	partials := slices.Clip(chart.Templates)
	options := common.ReleaseOptions{Name: r.name, Namespace: r.namespace, Revision: deployed.Revision, IsInstall: deployed.Revision == 1, IsUpgrade: deployed.Revision > 1}
	outputs := map[string]Output{}
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		// A template can change the values that it gets.
		top, err := util.ToRenderValuesWithSchemaValidation(chart, copyMap(values), options, capabilities, true)
		if err != nil {
			return nil, r.errorf("read the values of the chart: %w", err)
		}
		file := outputPrefix + name
		chart.Templates = append(partials, &common.File{Name: file, Data: []byte(templates[name])})
		text, err := renderOutput(ctx, chart, top, file)
		outputs[name] = Output{text, err}
	}
	return outputs, nil
}

// renderOutput evaluates the template in a file of a chart.
func renderOutput(ctx context.Context, chart *chartv2.Chart, values common.Values, file string) (string, error) {
	chance := variant.First()
	functions := chance.Functions()
	functions["lookup"] = func(...string) (map[string]any, error) {
		return nil, errors.New("lookup isn't available in outputs, which don't read the cluster")
	}
	rendered, err := engine.Engine{CustomTemplateFuncs: functions}.RenderWithContext(ctx, chart, values)
	if err != nil {
		return "", errors.New(strings.ReplaceAll(err.Error(), path.Join(chart.Name(), file), "template"))
	}
	if chance.Used() {
		return "", errors.New("the template has random content or the time, which would differ from the release's")
	}
	return rendered[path.Join(chart.ChartFullPath(), file)], nil
}

// hideTemplates makes the templates of a chart partials, which Helm parses but doesn't evaluate.
func hideTemplates(chart *chartv2.Chart) {
	hidden := make([]*common.File, len(chart.Templates))
	for i, file := range chart.Templates {
		copied := *file
		copied.Name = path.Join(path.Dir(file.Name), "_"+path.Base(file.Name))
		hidden[i] = &copied
	}
	chart.Templates = hidden
	for _, dependency := range chart.Dependencies() {
		hideTemplates(dependency)
	}
}

// CheckOutput returns an error if a template is not valid, or calls functions that Helm doesn't have.
func CheckOutput(template string) error {
	chart := &chartv2.Chart{
		Metadata:  &chartv2.Metadata{Name: "chart", Version: "1.0.0"},
		Templates: []*common.File{{Name: "templates/_output", Data: []byte(template)}},
	}
	_, err := engine.Engine{}.RenderWithContext(context.Background(), chart, common.Values{"Values": map[string]any{}})
	if err != nil {
		return fmt.Errorf("%s", strings.ReplaceAll(err.Error(), "chart/templates/_output", "template"))
	}
	return nil
}
