package helmkinds

import (
	"bytes"
	"fmt"
	"path"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/runtimekinds"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A chartSample is the sample of a kind as create api wrote it.
type chartSample struct {
	resource project.Resource
	full     bool
}

// uneditedSamples returns the samples of the chart's kinds that the user has not edited, by path, and records the others.
func (u *chartUpdate) uneditedSamples(tree *worktree.Tree, config *project.Config, ours helmchart.Files) (map[string]chartSample, error) {
	list, err := readWatches(tree)
	if err != nil {
		return nil, err
	}
	unedited := map[string]chartSample{}
	for _, w := range list {
		r, own := runtimekinds.ResourceOf(config, w.GroupVersionKind())
		name := scaffold.SampleFile(r)
		current, err := tree.ReadOptional(name)
		if err != nil {
			return nil, err
		}
		if !own || path.Clean(w.Chart) != u.dir || current == nil {
			continue
		}
		for _, full := range []bool{false, true} {
			want, err := sampleLike(current, sampleSpec(config, r, ours, full))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if bytes.Equal(current, want) {
				unedited[name] = chartSample{r, full}
				break
			}
		}
		if _, ok := unedited[name]; !ok {
			u.samples = append(u.samples, name)
		}
	}
	return unedited, nil
}

// describe adds the notes and next steps of an update to the result. Conflicts are returned as an error.
func (u *chartUpdate) describe(result *action.Result) error {
	for _, f := range u.merged.Merged {
		if f.Reason != merge.Conflicting {
			result.Notes = append(result.Notes, u.dir+"/"+f.String())
		}
	}
	for _, name := range u.samples {
		result.Notes = append(result.Notes, fmt.Sprintf("kept as it is: %s, which you have edited", name))
	}
	if conflicts := u.merged.Conflicts(); len(conflicts) > 0 {
		for i, name := range conflicts {
			conflicts[i] = path.Join(u.dir, name)
		}
		return u.ConflictError(fmt.Sprintf("version %s of the chart", u.theirs.Chart.Version), conflicts, fmt.Sprintf("'%s generate'", u.Program))
	}
	from := u.record.Version
	if from == "" {
		from = "an unknown version"
	}
	result.AddStepf("review the update of chart %s from %s to %s, then test it with '%s run local'", u.record.Name, from, u.theirs.Chart.Version, u.Program)
	return nil
}

// A ChartStatus describes a chart of the project.
type ChartStatus struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	Kinds   []string `json:"kinds"`
	// Source and Repo are where the chart is from; empty means unknown.
	Source string `json:"source,omitempty"`
	Repo   string `json:"repo,omitempty"`
	// Edited reports whether the files differ from the source's. It is nil if they are unknown.
	Edited *bool `json:"edited,omitempty"`
}

// ListCharts returns the charts of watches.yaml, in its order.
func ListCharts(p *action.Project) ([]ChartStatus, error) {
	tree := p.Files
	config, err := p.LoadWithCharts()
	if err != nil {
		return nil, err
	}
	list, err := readWatches(tree)
	if err != nil {
		return nil, err
	}
	var charts []ChartStatus
	index := map[string]int{}
	for _, w := range list {
		dir := path.Clean(w.Chart)
		kind := w.Kind + "." + w.Group
		if i, ok := index[dir]; ok {
			charts[i].Kinds = append(charts[i].Kinds, kind)
			continue
		}
		files, err := readChart(tree, dir, w.Position)
		if err != nil {
			return nil, err
		}
		status := ChartStatus{Name: path.Base(dir), Version: helmchart.Version(files), Kinds: []string{kind}}
		if record, ok := config.Chart(status.Name); ok {
			status.Source, status.Repo = record.Source, record.Repo
			edited := files.Digest() != record.Files
			status.Edited = &edited
		}
		index[dir] = len(charts)
		charts = append(charts, status)
	}
	return charts, nil
}
