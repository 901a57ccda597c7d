package helmkinds

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/runtimekinds"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/watches"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// ChartImages are the images of the chart of a kind.
type ChartImages struct {
	Chart string `json:"chart"`
	Kind  string `json:"kind"`
	// Images are the ones that values select. Left are the other images of its containers.
	Images []ChartImage `json:"images"`
	Left   []string     `json:"left,omitempty"`
}

// A ChartImage is an image of a chart.
type ChartImage struct {
	helmchart.Image
	// Related reports whether the override values of the kind set the image to the variable's.
	Related bool `json:"related"`
}

// ImagesOptions are the options of ListImages and RelateImages.
type ImagesOptions struct {
	// Kind is the kind whose chart is examined; empty means all kinds.
	Kind string
}

// ListImages returns the images of the charts of the project.
func ListImages(ctx context.Context, p *action.Project, o ImagesOptions) ([]ChartImages, error) {
	kinds, err := imageKinds(p, p.Files, o)
	if err != nil {
		return nil, err
	}
	var all []ChartImages
	for _, kind := range kinds {
		found, err := imagesOf(ctx, p, kind, nil)
		if err != nil {
			return nil, err
		}
		list := ChartImages{Chart: kind.Dir, Kind: kind.watch.Kind + "." + kind.watch.Group, Left: found.Left}
		for _, image := range found.Images {
			list.Images = append(list.Images, ChartImage{image, isRelated(kind.watch, image)})
		}
		all = append(all, list)
	}
	return all, nil
}

// RelateImages takes the images of charts from environment variables of the manager: it adds the variables to the manager, and
// override values to watches.yaml.
func RelateImages(ctx context.Context, p *action.Project, o ImagesOptions) (*action.Result, error) {
	return p.Update(ctx, func(tree *worktree.Tree) error {
		kinds, err := imageKinds(p, tree, o)
		if err != nil {
			return err
		}
		for _, kind := range kinds {
			if err := relateImages(ctx, p, tree, kind, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// imageKinds returns the kinds with charts that the options select.
func imageKinds(p *action.Project, tree *worktree.Tree, o ImagesOptions) ([]chartKind, error) {
	config, err := p.LoadWithCharts()
	if err != nil {
		return nil, err
	}
	if !config.HasCharts() {
		return nil, diag.Finding{Position: diag.Position{File: project.FileName}, Problem: "the project has no charts"}
	}
	kinds, err := readChartKinds(tree, config)
	if err != nil || o.Kind == "" {
		return kinds, err
	}
	selected := slices.DeleteFunc(slices.Clone(kinds), func(kind chartKind) bool { return kind.watch.Kind != o.Kind })
	if len(selected) == 0 {
		var names []string
		for _, kind := range kinds {
			names = append(names, kind.watch.Kind)
		}
		suggestion, _ := diag.Nearest(o.Kind, names)
		return nil, diag.Findings{{Field: "--kind", Value: o.Kind, Problem: watches.FileName + " has no entry for it", Suggestion: suggestion}}
	}
	return selected, nil
}

// chartImages is the content of a record of images.
type chartImages struct {
	Images []helmchart.Image
	Left   []string
}

// imagesOf returns the images of the chart of a kind. rendered is its chart if it is rendered already.
func imagesOf(ctx context.Context, p *action.Project, kind chartKind, rendered *helmchart.Rendered) (found chartImages, err error) {
	err = deriveOnce(p, action.ImagesRecord, []string{kind.Files.Digest()}, &found, func() error {
		return p.RunStep("rendering "+kind.Dir+" with other images", func() (err error) {
			if rendered == nil {
				if rendered, err = helmchart.Explore(ctx, kind.Files, p.Charts.Render); err != nil {
					return err
				}
			}
			found.Images, found.Left, err = helmchart.Images(ctx, kind.Files, rendered, p.Charts.Render)
			return err
		})
	})
	return found, err
}

// relateImages adds the variables and override values for the images of a kind. An image for which the entry has other override values
// is left out.
func relateImages(ctx context.Context, p *action.Project, tree *worktree.Tree, kind chartKind, rendered *helmchart.Rendered) error {
	found, err := imagesOf(ctx, p, kind, rendered)
	if err != nil {
		return err
	}
	overrides := map[string]string{}
	for _, image := range found.Images {
		if key := otherOverride(kind.watch, image); key != "" {
			p.ReportFindings(diag.Note, diag.Finding{Position: kind.watch.Position, Problem: fmt.Sprintf("image %q keeps the override value of %s", image.Path, key)})
			continue
		}
		maps.Copy(overrides, image.Overrides)
		if err := setRelatedImage(p, tree, image); err != nil {
			return err
		}
	}
	if len(found.Left) > 0 {
		p.Reportf(diag.Note, "no value of %s sets these images to one with a digest: %s; if the operator needs them, change the chart", kind.Dir, strings.Join(found.Left, ", "))
	}
	gvk := kind.watch.GroupVersionKind()
	return runtimekinds.EditWatches(tree, func(data []byte) ([]byte, error) { return watches.AddOverrides(data, gvk, overrides) })
}

// relateNewImages is relateImages for a kind that was added.
func relateNewImages(ctx context.Context, p *action.Project, tree *worktree.Tree, config *project.Config, gvk schema.GroupVersionKind, rendered *helmchart.Rendered) error {
	kinds, err := readChartKinds(tree, config)
	if err != nil {
		return err
	}
	for _, kind := range kinds {
		if kind.watch.GroupVersionKind() == gvk {
			return relateImages(ctx, p, tree, kind, rendered)
		}
	}
	return nil
}

// updateRelatedImages sets the variables of images that the chart has changed.
func updateRelatedImages(ctx context.Context, p *action.Project, tree *worktree.Tree, kinds []chartKind, rendered map[string]*helmchart.Rendered) error {
	for _, kind := range kinds {
		if len(relatedVariables(kind.watch.OverrideValues)) == 0 {
			continue
		}
		found, err := imagesOf(ctx, p, kind, rendered[kind.Dir])
		if err != nil {
			return err
		}
		for _, image := range found.Images {
			if !isRelated(kind.watch, image) {
				continue
			}
			if err := setRelatedImage(p, tree, image); err != nil {
				return err
			}
		}
	}
	return nil
}

func setRelatedImage(p *action.Project, tree *worktree.Tree, image helmchart.Image) error {
	kept, err := scaffold.SetRelatedImage(tree, image.Variable, image.Default)
	if kept != "" {
		p.Reportf(diag.Note, "%s: %s keeps %s; the chart has %s", project.ManagerFile, image.Variable, kept, image.Default)
	}
	return err
}

// isRelated reports whether the override values of an entry set an image to its variable's.
func isRelated(w watches.Watch, image helmchart.Image) bool {
	for key, text := range image.Overrides {
		if given, ok := w.OverrideValues[key]; !ok || given != text {
			return false
		}
	}
	return true
}

// otherOverride returns a part of an image for which an entry has another override value, or "".
func otherOverride(w watches.Watch, image helmchart.Image) string {
	for _, key := range slices.Sorted(maps.Keys(image.Overrides)) {
		if given, ok := w.OverrideValues[key]; ok && given != image.Overrides[key] {
			return key
		}
	}
	return ""
}

var relatedVariable = lazyregexp.New(helmchart.RelatedPrefix + `[A-Za-z0-9_]+`)

// relatedVariables returns the variables with images in override values.
func relatedVariables(overrides map[string]string) map[string]bool {
	variables := map[string]bool{}
	for _, text := range overrides {
		for _, name := range relatedVariable.FindAllString(text, -1) {
			variables[name] = true
		}
	}
	return variables
}

// dropRelatedImages removes the variables with images that only an entry uses.
func dropRelatedImages(tree *worktree.Tree, gvk schema.GroupVersionKind) error {
	list, err := readWatches(tree)
	if err != nil {
		return err
	}
	own, others := map[string]bool{}, map[string]bool{}
	for _, w := range list {
		if w.GroupVersionKind() == gvk {
			own = relatedVariables(w.OverrideValues)
		} else {
			maps.Copy(others, relatedVariables(w.OverrideValues))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if !others[name] {
			scaffold.RemoveRelatedImage(tree, name)
		}
	}
	return nil
}
