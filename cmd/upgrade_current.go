package cmd

import (
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/migrate"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// currentFiles scaffolds the project that PROJECT describes anew, in memory, with or without webhooks: what init and every
// create command write.
func (a *app) currentFiles(config *project.Config, header string, webhooks bool) (map[string][]byte, error) {
	tree := worktree.NewTree(afero.NewMemMapFs(), "/")
	if err := a.rescaffold(tree, config, header, webhooks); err != nil {
		return nil, err
	}
	return tree.Overlay(), nil
}

// rescaffold writes a project into an empty tree, by what its PROJECT file records, with or without webhooks.
func (a *app) rescaffold(tree *worktree.Tree, config *project.Config, header string, webhooks bool) error {
	if _, err := scaffold.Init(tree, a.projectData(config, header)); err != nil {
		return err
	}
	for _, r := range config.Resources() {
		for _, data := range a.recordedAPIs(config, r, header) {
			if _, err := scaffold.CreateAPI(tree, data, true); err != nil {
				return err
			}
		}
	}
	if !webhooks {
		return nil
	}
	for _, r := range config.Resources() {
		for _, w := range a.recordedWebhooks(config, r, header) {
			if _, err := scaffold.CreateWebhook(tree, w.Data, w.Spokes, nil, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// recordedAPIs gives the data of create api commands that make what a resource's entry in PROJECT says: the
// types with the first controller, then one for each other.
func (a *app) recordedAPIs(config *project.Config, r project.Resource, header string) []scaffold.Data {
	image, _ := config.Image(r.GVK)
	parts := apiParts{api: r.HasAPI(), namespaced: r.API == nil || r.API.Namespaced, image: image}
	if len(r.Controllers) == 0 {
		if !parts.api {
			return nil
		}
		return []scaffold.Data{a.apiData(config, r, header, parts)}
	}
	var all []scaffold.Data
	for _, name := range r.Controllers {
		parts.controller, parts.controllerName = true, name
		all = append(all, a.apiData(config, r, header, parts))
		parts.api, parts.image = false, project.Image{}
	}
	return all
}

// scaffoldNames are the names that the scaffold of a project holds.
func scaffoldNames(config *project.Config) migrate.Names {
	names := migrate.Names{Project: config.ProjectName(), Domain: config.Domain(), Repo: config.Repo()}
	for _, r := range config.Resources() {
		names.Resources = append(names.Resources, migrate.Resource{Group: r.Group, Version: r.Version, Kind: r.Kind, Plural: r.Plural})
	}
	return names
}

// scaffoldTool returns the program that scaffolded a project, by the plugins in PROJECT.
func scaffoldTool(config *project.Config) string {
	if config.HasSDKPlugin() {
		return "operator-sdk"
	}
	return "kubebuilder"
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

// scaffoldStage returns how far a project has come.
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

func uniqueSorted(names []string) []string {
	slices.SortFunc(names, strings.Compare)
	return slices.Compact(names)
}
