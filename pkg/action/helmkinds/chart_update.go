package helmkinds

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// UpdateOptions are the options of UpdateChart.
type UpdateOptions struct {
	// Chart is the name of the chart's directory in helm-charts, Kind a kind that uses it. They can be omitted if the project has one
	// chart.
	Chart, Kind string
	// Source, Repo and Version select the new chart as for CreateAPI. The default is the newest version at the recorded source.
	Source, Repo, Version string
	// Conflict is the side that decides conflicts: ours, theirs, or empty for conflict markers.
	Conflict string
}

// UpdateChart merges a newer version of a chart with the files of the project, and updates the CRD, the role and the sample. If
// conflicts are left to the user, it returns an error together with the result.
func UpdateChart(ctx context.Context, p *action.Project, o UpdateOptions) (*action.Result, error) {
	u, err := prepareChartUpdate(ctx, p, o)
	if err != nil {
		return nil, err
	}
	if u.isCurrent() {
		return &action.Result{DryRun: p.DryRun, Unchanged: fmt.Sprintf("chart %s is up to date (%s)", u.record.Name, u.record.Version)}, nil
	}
	result, err := p.Update(ctx, func(tree *worktree.Tree) error { return u.apply(ctx, tree) })
	if err != nil {
		return nil, err
	}
	return result, u.describe(result)
}

// A chartUpdate is an update of a chart.
type chartUpdate struct {
	*action.Project
	side merge.Side
	// record is the current version, theirs the new one. dir is the directory of the chart.
	record project.Chart
	theirs *helmchart.FetchAnswer
	dir    string
	// base are the unchanged files of the current version, or nil if they are not available, for the reason missing.
	base    helmchart.Files
	missing error
	merged  *merge.FilesResult
	// samples are the ones that the user edited.
	samples []string
}

// prepareChartUpdate validates the options and fetches both versions of the chart.
func prepareChartUpdate(ctx context.Context, p *action.Project, o UpdateOptions) (*chartUpdate, error) {
	tree := p.Files
	config, err := p.LoadWithCharts()
	if err != nil {
		return nil, err
	}
	u := &chartUpdate{Project: p}
	var findings diag.Findings
	var ok bool
	if u.side, ok = action.ConflictSides()[o.Conflict]; !ok {
		findings.Add("--conflict", o.Conflict, "must be ours or theirs")
	}
	if o.Repo != "" && o.Source == "" {
		findings.Add("--helm-chart-repo", o.Repo, "requires --helm-chart, the name of the chart in the repository")
	}
	if u.record, err = selectChart(tree, config, o, &findings); err != nil {
		return nil, err
	}
	if len(findings) == 0 && u.record.Source == "" && o.Source == "" {
		findings.Add("--helm-chart", "", fmt.Sprintf("is required: PROJECT does not record where chart %s is from", u.record.Name))
	}
	if err := findings.Err(); err != nil {
		return nil, err
	}
	u.dir = path.Join(project.ChartsDir, u.record.Name)
	request := helmchart.FetchRequest{Chart: o.Source, Repo: o.Repo, Version: o.Version, Offline: p.Go.Offline}
	if o.Source == "" {
		request.Chart, request.Repo = chartSource(p, u.record), u.record.Repo
	}
	if u.theirs, err = p.Charts.Fetch(ctx, request); err != nil {
		return nil, err
	}
	for _, warning := range u.theirs.Warnings {
		p.Reportf(diag.Warning, "%s", warning)
	}
	if name := u.theirs.Chart.Name; name != u.record.Name {
		return nil, diag.Findings{{Field: "--helm-chart", Value: cmp.Or(o.Source, u.record.Source), Problem: fmt.Sprintf(
			"is chart %s, not %s; create an API for it", name, u.record.Name)}}
	}
	if !u.isCurrent() {
		u.base, u.missing = u.fetchBase(ctx)
	}
	return u, ctx.Err()
}

// selectChart returns the record of the chart that the options select. A chart that other programs added has only a name.
func selectChart(tree *worktree.Tree, config *project.Config, o UpdateOptions, findings *diag.Findings) (project.Chart, error) {
	list, err := readWatches(tree)
	if err != nil {
		return project.Chart{}, err
	}
	var names, kinds []string
	byKind := map[string]string{}
	for _, w := range list {
		if dir := path.Clean(w.Chart); path.Dir(dir) == project.ChartsDir {
			names = append(names, path.Base(dir))
			kinds = append(kinds, w.Kind)
			byKind[w.Kind] = path.Base(dir)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	name := o.Chart
	near := func(field, value, problem string, candidates []string) {
		suggestion, _ := diag.Nearest(value, candidates)
		*findings = append(*findings, diag.Finding{Field: field, Value: value, Problem: problem, Suggestion: suggestion})
	}
	switch {
	case o.Chart != "" && !slices.Contains(names, o.Chart):
		near("--chart", o.Chart, "the project has no such chart in "+project.ChartsDir+" and watches.yaml", names)
	case o.Kind != "" && byKind[o.Kind] == "":
		near("--kind", o.Kind, "watches.yaml has no such kind with a chart in "+project.ChartsDir, kinds)
	case o.Kind != "" && o.Chart != "" && byKind[o.Kind] != o.Chart:
		findings.Add("--kind", o.Kind, "has chart "+byKind[o.Kind]+"; leave out --chart or --kind")
	case o.Kind != "":
		name = byKind[o.Kind]
	case o.Chart == "" && len(names) == 1:
		name = names[0]
	case o.Chart == "" && len(names) == 0:
		findings.Add("--chart", "", "the project has no charts; create an API first")
	case o.Chart == "":
		findings.Add("--chart", "", "is required: the project has charts "+strings.Join(names, ", "))
	}
	record, ok := config.Chart(name)
	if !ok {
		record = project.Chart{Name: name}
	}
	return record, nil
}

// chartSource returns the recorded source of a chart for a request, without the version that it may name.
func chartSource(p *action.Project, record project.Chart) string {
	source := record.Source
	if rest, ok := strings.CutPrefix(source, "oci://"); ok {
		dir, name := path.Split(rest)
		name, _, _ = strings.Cut(name, "@")
		name, _, _ = strings.Cut(name, ":")
		return "oci://" + dir + name
	}
	if strings.Contains(source, "://") || record.Repo != "" {
		return source
	}
	local := filepath.Join(p.Root, filepath.FromSlash(source))
	if rel, err := filepath.Rel(p.Dir, local); err == nil && exists(p, local) {
		return "." + string(filepath.Separator) + rel
	}
	return source
}

func exists(p *action.Project, name string) bool {
	_, err := p.FS.Stat(name)
	return err == nil
}

// fetchBase fetches the unchanged files of the current version again.
func (u *chartUpdate) fetchBase(ctx context.Context) (helmchart.Files, error) {
	if u.record.Files == "" || u.record.Source == "" {
		return nil, errors.New("PROJECT does not record where it is from")
	}
	answer, err := u.Charts.Fetch(ctx, helmchart.FetchRequest{
		Chart: chartSource(u.Project, u.record), Repo: u.record.Repo, Version: u.record.Version, Offline: u.Go.Offline,
	})
	if err != nil {
		return nil, err
	}
	if answer.Files.Digest() != u.record.Files {
		return nil, fmt.Errorf("%s no longer has the recorded files", cmp.Or(u.record.Repo, u.record.Source))
	}
	return answer.Files, nil
}

// isCurrent reports whether the project has the new version.
func (u *chartUpdate) isCurrent() bool { return u.theirs.Files.Digest() == u.record.Files }

// apply merges the chart in a tree and updates what is derived from it.
func (u *chartUpdate) apply(ctx context.Context, tree *worktree.Tree) error {
	config, err := u.LoadWithCharts()
	if err != nil {
		return err
	}
	ours, err := readChart(tree, u.dir, diag.Position{File: project.FileName})
	if err != nil {
		return err
	}
	if u.merged, err = u.merge(ours); err != nil {
		return err
	}
	samples, err := u.uneditedSamples(tree, config, ours)
	if err != nil {
		return err
	}
	if err := action.ReplaceFiles(tree, u.dir, ours, u.merged.Files); err != nil {
		return err
	}
	if err := config.SetChart(chartRecord(u.Project, u.theirs)); err != nil {
		return err
	}
	tree.WriteFile(project.FileName, config.Bytes(), worktree.FileMode)
	if len(u.merged.Conflicts()) > 0 {
		return nil // the chart cannot be rendered
	}
	for name, sample := range samples {
		content, err := helmchart.Sample(sampleSpec(config, sample.resource, u.merged.Files, sample.full))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		tree.WriteFile(name, content, worktree.FileMode)
	}
	edited := map[string][]byte{}
	for _, name := range u.samples {
		if edited[name], err = tree.ReadFile(name); err != nil {
			return err
		}
	}
	if err := generateCharts(ctx, u.Project, tree, config, map[string]*helmchart.Rendered{}); err != nil {
		return err
	}
	u.samples = slices.DeleteFunc(u.samples, func(name string) bool {
		now, err := tree.ReadFile(name)
		return err == nil && !bytes.Equal(now, edited[name]) // merged
	})
	return nil
}

// merge merges the new version with the files of the project.
func (u *chartUpdate) merge(ours helmchart.Files) (*merge.FilesResult, error) {
	base := u.base
	switch {
	case base != nil:
	case ours.Digest() == u.record.Files, u.side == merge.Theirs:
		base = ours // nothing is lost, or the user wants it
	default:
		return nil, fmt.Errorf("%s has been edited, and the unchanged files of version %s, which the merge needs, are not available: %w; "+
			"replace the chart with --conflict theirs, and apply your edits to it again from version control", u.dir, cmp.Or(u.record.Version, "(unknown)"), u.missing)
	}
	return merge.Files(base, ours, u.theirs.Files, merge.FilesOptions{
		Options: merge.Options{Side: u.side, OursLabel: "yours", TheirsLabel: u.record.Name + " " + u.theirs.Chart.Version},
		IsGenerated: func(name string) bool {
			return path.Dir(name) == "charts" && path.Ext(name) == ".tgz" || name == "Chart.lock"
		},
		IsTemplate: func(name string) bool { return slices.Contains(strings.Split(name, "/"), "templates") },
	}), nil
}
