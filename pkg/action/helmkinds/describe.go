package helmkinds

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/runtimekinds"
	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/watches"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Describe implements Kinds: the description comes from the chart, the resources are the kinds that
// it creates with its default values. A base can be generated without the charts: kinds whose chart is missing are left as they are.
func (Kinds) Describe(ctx context.Context, p *action.Project, tree *worktree.Tree, config *project.Config, _ string) ([]base.Kind, []codegen.API, error) {
	if !tree.Exists(watches.FileName) {
		return nil, nil, nil
	}
	list, err := readWatches(tree)
	if err != nil {
		return nil, nil, err
	}
	var kinds []base.Kind
	var apis []codegen.API
	for _, w := range list {
		resource, own := runtimekinds.ResourceOf(config, w.GroupVersionKind())
		dir := path.Clean(w.Chart)
		if !own || !tree.Exists(dir) {
			continue
		}
		chart, err := readChart(tree, dir, w.Position)
		if err != nil {
			return nil, nil, err
		}
		var content chartContent
		err = deriveOnce(p, action.ContentRecord, []string{chart.Digest()}, &content, func() error {
			answer, err := p.Charts.Render(ctx, helmchart.RenderRequest{
				Files: chart, ReleaseName: "release", Namespace: "default", Values: []map[string]any{{}},
			})
			if err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
			content = chartContent{answer.Chart, createdKinds(answer)}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		api := codegen.API{
			Group: resource.QualifiedGroup(), Version: resource.Version, Kind: resource.Kind, Plural: resource.Plural,
			Doc: describeChart(resource.Kind, content.Chart), Markers: []codegen.KindMarker{{Resources: content.Kinds}},
		}
		kinds, apis = append(kinds, base.KindOf(api)), append(apis, api)
	}
	return kinds, apis, nil
}

// chartContent is the content of a record of a chart: its metadata, and the kinds and versions of its objects.
type chartContent struct {
	Chart helmchart.Metadata
	Kinds [][]string
}

// describeChart describes a kind whose objects are releases of a chart.
func describeChart(kind string, chart helmchart.Metadata) string {
	text := fmt.Sprintf("%s installs the Helm chart %s", kind, chart.Name)
	if description := strings.TrimRight(strings.Join(strings.Fields(chart.Description), " "), "."); description != "" {
		text += ": " + description
	}
	return text + "."
}

// createdKinds returns the kinds and versions of the objects that a chart creates, sorted, as the values of a marker have them.
func createdKinds(answer *helmchart.RenderAnswer) [][]string {
	var created [][]string
	for _, rendering := range answer.Renderings {
		for _, o := range rendering.Objects {
			if len(o.Hooks) > 0 {
				continue
			}
			apiVersion := manifest.TextAt(o.Object, "apiVersion")
			created = append(created, []string{manifest.TextAt(o.Object, "kind"), apiVersion[strings.LastIndexByte(apiVersion, '/')+1:]})
		}
	}
	slices.SortFunc(created, slices.Compare)
	return slices.CompactFunc(created, slices.Equal)
}
