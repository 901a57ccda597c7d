package helmkinds

import (
	"bytes"
	"context"
	"path"
	"slices"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/runtimekinds"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// RemoveKind implements Kinds: it removes a kind with its manifests, its entries and, unless another kind uses it, its chart.
// The chart, the sample and the code that a Go project needed for its last kind with a chart are removed only with force if they
// were edited.
func (Kinds) RemoveKind(ctx context.Context, p *action.Project, tree *worktree.Tree, config *project.Config, r project.Resource, o action.DeleteAPIOptions) error {
	edited, err := removeCharts(p, tree, config, r)
	if err != nil {
		return err
	}
	if err := dropRelatedImages(tree, runtimekinds.GVK(r)); err != nil {
		return err
	}
	if err := removeWatch(tree, r); err != nil {
		return err
	}
	if err := config.RemoveResource(r.GVK); err != nil {
		return err
	}
	tree.WriteFile(project.FileName, config.Bytes(), worktree.FileMode)
	if !slices.ContainsFunc(config.Resources(), func(other project.Resource) bool { return other.CRDName() == r.CRDName() }) {
		tree.RemoveIfExists(path.Join(project.CRDBasesDir, r.CRDFile()))
	}
	if err := generateCharts(ctx, p, tree, config, map[string]*helmchart.Rendered{}); err != nil {
		return err
	}
	header, _, err := p.Header(tree)
	if err != nil {
		return err
	}
	deletion := scaffold.Deletion{Removed: []scaffold.Data{chartData(p, config, r, header)}, Force: true}
	for _, other := range config.Resources() {
		deletion.Kept = append(deletion.Kept, p.RecordedAPIs(config, other, header)...)
		deletion.KeptWebhooks = append(deletion.KeptWebhooks, p.RecordedWebhooks(config, other, header)...)
	}
	return runtimekinds.Delete(p, tree, deletion, edited, o.Force)
}

// chartData returns the data of create api for a kind with a chart, which PROJECT need not record.
func chartData(p *action.Project, config *project.Config, r project.Resource, header string) scaffold.Data {
	data := p.PlainData(config, r, header)
	data.Resource.Chart = true
	return data
}

// removeCharts removes the chart of a kind, unless other kinds have it, and the sample. It returns what the user has edited: a chart
// whose files differ from its record in PROJECT, and a sample that differs from the chart's.
func removeCharts(p *action.Project, tree *worktree.Tree, config *project.Config, r project.Resource) (edited diag.Findings, err error) {
	list, err := readWatches(tree)
	if err != nil {
		return nil, err
	}
	var dir string
	var files helmchart.Files
	shared := false
	for _, w := range list {
		if w.GroupVersionKind() == runtimekinds.GVK(r) {
			if dir = path.Clean(w.Chart); !tree.Exists(path.Join(dir, "Chart.yaml")) {
				continue // the user has removed the chart
			}
			if files, err = readChart(tree, dir, w.Position); err != nil {
				return nil, err
			}
		}
	}
	for _, w := range list {
		shared = shared || w.GroupVersionKind() != runtimekinds.GVK(r) && path.Clean(w.Chart) == dir
	}
	sample := scaffold.SampleFile(r)
	if current, err := tree.ReadOptional(sample); err != nil {
		return nil, err
	} else if current != nil {
		if same, err := isSample(p, config, r, files, current); err != nil {
			return nil, err
		} else if !same {
			edited = append(edited, scaffold.Edited(diag.Position{File: sample}, ""))
		}
		tree.Remove(sample)
	}
	if files == nil || shared {
		return edited, nil
	}
	if record, ok := config.Chart(path.Base(dir)); !ok || record.Files != files.Digest() {
		edited = append(edited, scaffold.Edited(diag.Position{File: dir}, ""))
	}
	for name := range files {
		tree.Remove(path.Join(dir, name))
	}
	return edited, config.RemoveChart(path.Base(dir))
}

// isSample reports whether a file is a sample as create api writes it.
func isSample(p *action.Project, config *project.Config, r project.Resource, files helmchart.Files, content []byte) (bool, error) {
	if files == nil {
		return false, nil
	}
	for _, full := range []bool{false, true} {
		want, err := sampleLike(content, sampleSpec(config, r, files, full))
		if err != nil || bytes.Equal(content, want) {
			return err == nil, err
		}
	}
	return false, nil
}
