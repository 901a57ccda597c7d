package action

import (
	"context"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/grafana"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A ChartGenerator generates the Helm chart that installs the operator of a project. Package chart implements it.
type ChartGenerator interface {
	// Apply generates the chart into a tree whose other files are complete, and records it in PROJECT.
	Apply(ctx context.Context, tree *worktree.Tree, config *project.Config) error
	// Describe adds to a result what the user must know about the chart. It returns an error about conflicts.
	Describe(result *Result) error
}

// AddPlugins writes the files of optional plugins into the tree, and records the plugins. Existing files are kept, except for the
// dashboard of the project's own metrics, to which panels are added.
func (p *Project) AddPlugins(tree *worktree.Tree, config *project.Config, plugins project.Plugins) error {
	var kept []string
	for _, key := range plugins.Optional() {
		report, err := p.AddPlugin(tree, config, key)
		if err != nil {
			return err
		}
		kept = append(kept, report.Kept...)
		if err := config.AddPlugin(key); err != nil {
			return err
		}
	}
	if plugins.Grafana {
		if err := p.updateDashboard(tree, config); err != nil {
			return err
		}
	}
	if len(kept) > 0 {
		p.Reportf(diag.Note, "kept as they are: %s; to have one written anew, delete it and repeat the command", strings.Join(kept, ", "))
	}
	return nil
}

// AddPlugin writes the files of an optional plugin that the tree does not have.
func (p *Project) AddPlugin(tree *worktree.Tree, config *project.Config, key string) (*scaffold.Report, error) {
	event, _, _ := strings.Cut(key, ".")
	return scaffold.AddPlugin(tree, event, p.ProjectData(config, ""))
}

// updateDashboard writes the panels of the project's own metrics.
func (p *Project) updateDashboard(tree *worktree.Tree, config *project.Config) error {
	content, err := tree.ReadFile(grafana.ConfigFile)
	if err != nil {
		return err
	}
	metrics, unknown, err := grafana.ReadConfig(content)
	if err != nil {
		return err
	}
	current, err := tree.ReadOptional(grafana.DashboardFile)
	if err != nil {
		return err
	}
	p.ReportFindings(diag.Warning, unknown...)
	if current == nil && len(metrics) == 0 {
		return nil
	}
	next, notes, err := grafana.Dashboard(current, config.ProjectName(), metrics)
	if err != nil {
		return err
	}
	for _, note := range notes {
		p.Reportf(diag.Note, "%s: %s", grafana.DashboardFile, note)
	}
	tree.WriteFile(grafana.DashboardFile, next, worktree.FileMode)
	return nil
}

// DashboardPair returns the dashboard of the project's own metrics, without panels, for the old and the new name of the project.
func DashboardPair(before, after *project.Config) (scaffold.RenderedPair, error) {
	pair := scaffold.RenderedPair{From: grafana.DashboardFile, To: grafana.DashboardFile}
	for text, config := range map[*string]*project.Config{&pair.Old: before, &pair.New: after} {
		content, _, err := grafana.Dashboard(nil, config.ProjectName(), nil)
		if err != nil {
			return pair, err
		}
		*text = string(content)
	}
	return pair, nil
}

// addPluginSteps adds what the user does with the files of optional plugins.
func (p *Project) addPluginSteps(result *Result, plugins project.Plugins) {
	if plugins.Grafana {
		result.AddStepf("import the dashboards in grafana/ into Grafana; for your own metrics, list them in %s and run '%s edit --plugins grafana/v1-alpha'", grafana.ConfigFile, p.Program)
	}
	if plugins.AutoUpdate {
		result.AddStepf("push %s, and allow GitHub Actions to create pull requests in the settings of the repository", project.AutoUpdateFile)
	}
}
