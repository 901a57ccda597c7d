package upgrade

import (
	"maps"
	"strings"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/migrate"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// currentFiles returns the files of the current scaffold for a project, with or without webhooks, and with all optional plugins.
func currentFiles(p *action.Project, config *project.Config, header string, webhooks bool) (map[string][]byte, error) {
	tree := worktree.NewTree(afero.NewMemMapFs(), "/")
	if err := scaffoldAll(p, tree, config, header, webhooks); err != nil {
		return nil, err
	}
	for _, key := range (project.Plugins{Grafana: true, AutoUpdate: true}).Optional() {
		if _, err := p.AddPlugin(tree, config, key); err != nil {
			return nil, err
		}
	}
	files := tree.Edits()
	maps.DeleteFunc(files, func(_ string, text []byte) bool { return text == nil })
	return files, nil
}

// scaffoldAll writes what Init and all create commands write for a project into an empty tree, with or without webhooks.
func scaffoldAll(p *action.Project, tree *worktree.Tree, config *project.Config, header string, webhooks bool) error {
	if _, err := scaffold.Init(tree, p.ProjectData(config, header)); err != nil {
		return err
	}
	for _, r := range config.Resources() {
		if !config.HasGoCode() {
			if _, err := scaffold.CreateKind(tree, p.PlainData(config, r, ""), true); err != nil {
				return err
			}
			continue
		}
		for _, data := range recordedAPIs(p, config, r, header) {
			if _, err := scaffold.CreateAPI(tree, data, true); err != nil {
				return err
			}
		}
	}
	if !webhooks {
		return nil
	}
	for _, r := range config.Resources() {
		for _, w := range p.RecordedWebhooks(config, r, header) {
			if _, err := scaffold.CreateWebhook(tree, w.Data, w.Spokes, nil, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// recordedAPIs returns the data of the fewest create api commands that result in a resource of PROJECT: the types with the first
// controller, then each other controller.
func recordedAPIs(p *action.Project, config *project.Config, r project.Resource, header string) []scaffold.Data {
	image, _ := config.Image(r.GVK)
	parts := action.APIParts{API: r.HasAPI(), Namespaced: r.API == nil || r.API.Namespaced, Image: image, SSA: r.API != nil && r.API.SSA}
	if len(r.Controllers) == 0 {
		if !parts.API {
			return nil
		}
		return []scaffold.Data{p.APIData(config, r, header, parts)}
	}
	var all []scaffold.Data
	for _, name := range r.Controllers {
		parts.Controller, parts.ControllerName = true, name
		all = append(all, p.APIData(config, r, header, parts))
		parts.API, parts.Image = false, project.Image{}
	}
	return all
}

// scaffoldTool returns the program that scaffolded a project, by the plugins in PROJECT.
func scaffoldTool(config *project.Config) string {
	if config.HasSDKPlugin() {
		return "operator-sdk"
	}
	return config.Facts().Tool
}

// layoutVersion returns the layout of a Go project without the plugin's name, such as go/v3.
func layoutVersion(config *project.Config) string {
	for _, plugin := range config.Layout() {
		if name, version, ok := strings.Cut(plugin, "/"); ok && strings.HasSuffix(name, "go.kubebuilder.io") {
			layout := "go/" + strings.TrimSuffix(version, "-alpha")
			if config.ComponentConfig() {
				layout += migrate.ComponentConfig
			}
			return layout
		}
	}
	return ""
}

// scaffoldStage returns the kinds of content that a project has.
func scaffoldStage(config *project.Config) migrate.Content {
	stage := migrate.NoAPI
	for _, r := range config.Resources() {
		stage = max(stage, migrate.WithAPI)
		if r.Webhooks != nil {
			stage = migrate.WithWebhooks
		}
	}
	return stage
}
