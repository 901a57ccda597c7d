package cmd

import (
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

// apiParts say what create api writes of a resource.
type apiParts struct {
	api, controller, namespaced bool
	// ssa asks for apply configurations of the types.
	ssa bool
	// controllerName is empty for the controller that has the kind's name.
	controllerName string
	// image is what the controller deploys, if anything.
	image project.Image
}

// projectData gives what all templates need to know about the project.
func (a *app) projectData(config *project.Config, header string) scaffold.Data {
	return scaffold.Data{
		Project: scaffold.Project{
			Name: config.ProjectName(), Domain: config.Domain(), Repo: config.Repo(),
			MultiGroup: config.MultiGroup(), Namespaced: config.Namespaced(), RootLayout: config.RootLayout(),
			Boilerplate: header, CLIName: a.program,
		},
		Versions: pinnedVersions(),
	}
}

// resourceData adds what they need to know about a resource, whatever is written of it.
func (a *app) resourceData(config *project.Config, r project.Resource, header string) scaffold.Data {
	data := a.projectData(config, header)
	data.Resource = scaffold.Resource{
		Group: r.Group, Domain: r.Domain, QualifiedGroup: r.QualifiedGroup(),
		Version: r.Version, Kind: r.Kind, Plural: r.Plural,
		Package: r.Path, ImportAlias: importAlias(config, r),
		Core: r.Core, External: r.External,
		IrregularPlural: r.Plural != project.CRDPlural(r.Kind),
	}
	return data
}

// importAlias returns the name that Go files import the types of a resource by. Where PROJECT names packages of their own for
// kinds of one group and version, all but the first get a name with their kind.
func importAlias(config *project.Config, r project.Resource) string {
	alias := r.ImportAlias()
	for _, other := range config.Resources() {
		if other.GVK == r.GVK {
			break
		}
		if other.Path != "" && other.Path != r.Path && other.ImportAlias() == alias {
			return r.FileStem() + r.Version
		}
	}
	return alias
}

// apiData is the data of create api.
func (a *app) apiData(config *project.Config, r project.Resource, header string, parts apiParts) scaffold.Data {
	controller := strings.ToLower(r.Kind)
	if parts.controllerName != "" {
		controller = parts.controllerName
	}
	data := a.resourceData(config, r, header)
	data.Resource.API, data.Resource.Controller, data.Resource.Namespaced = parts.api, parts.controller, parts.namespaced
	data.Resource.SSA = parts.ssa
	data.Resource.ControllerName = controller
	data.Resource.RuntimeName = r.ControllerName(controller, config.MultiGroup())
	data.Resource.ControllerPackage = controllerPackage(config, r)
	data.Resource.ReconcilerName = r.ReconcilerName(controller)
	if image := parts.image; image.Ref != "" {
		// The port has been checked; none is 0.
		port, _ := strconv.ParseInt(image.Port, 10, 32)
		data.Image = scaffold.Image{
			Ref: image.Ref, RunAsUser: image.RunAsUser, Port: int32(port),
			EnvVar:       strings.ToUpper(r.Kind) + "_IMAGE",
			NamespaceVar: strings.ToUpper(r.Kind) + "_NAMESPACE",
		}
		if image.Command != "" {
			data.Image.Command = strings.Split(image.Command, ",")
		}
	}
	return data
}

// controllerPackage is the Go package of the project's controllers of a group.
func controllerPackage(config *project.Config, r project.Resource) string {
	if config.MultiGroup() {
		return r.PackageName()
	}
	if config.RootLayout() {
		return "controllers"
	}
	return "controller"
}

// webhookData is the data of create webhook, for the kinds of webhooks that are asked for.
func (a *app) webhookData(config *project.Config, r project.Resource, header string, asked project.Webhooks) scaffold.Data {
	data := a.resourceData(config, r, header)
	// Kinds of others say nothing about their scope; a namespace in an object without one does no harm.
	data.Resource.Namespaced = r.API == nil || r.API.Namespaced
	alias := "webhook" + r.Version
	if config.MultiGroup() && r.Group != "" {
		alias = "webhook" + r.PackageName() + r.Version
	}
	group := r.APIGroup()
	if group == "" {
		group = `""`
	}
	data.Webhook = scaffold.Webhook{
		Defaulting: asked.Defaulting, Validation: asked.Validation, Conversion: asked.Conversion,
		DefaultingPath: r.DefaultingPath(), ValidationPath: r.ValidationPath(),
		CustomDefaultingPath: r.Webhooks.DefaultingPath != "", CustomValidationPath: r.Webhooks.ValidationPath != "",
		APIGroup: group, ImportAlias: alias,
	}
	return data
}

// spokesOf describes versions of the hub r.
func spokesOf(config *project.Config, r project.Resource, versions []string) []scaffold.Spoke {
	var spokes []scaffold.Spoke
	for _, version := range versions {
		gvk := r.GVK
		gvk.Version = version
		spoke, _ := config.Resource(gvk) // the versions of a conversion are in PROJECT
		spokes = append(spokes, scaffold.Spoke{Version: version, Package: spoke.Path, ImportAlias: spoke.ImportAlias()})
	}
	return spokes
}

// recordedData gives the data of the create api commands that a resource's entry in PROJECT may stem
// from: types alone, types with a controller, each controller alone.
func (a *app) recordedData(config *project.Config, r project.Resource, header string) []scaffold.Data {
	image, _ := config.Image(r.GVK)
	add := func(all []scaffold.Data, api, controller bool, name string) []scaffold.Data {
		parts := apiParts{api: api, controller: controller, namespaced: r.API == nil || r.API.Namespaced, controllerName: name}
		if api && (controller || len(r.Controllers) == 0) {
			parts.image = image
		}
		data := a.apiData(config, r, header, parts)
		all = append(all, data)
		if !controller {
			return all
		}
		// A controller that edit --multigroup moved keeps the name that it had in logs and metrics.
		data.Resource.RuntimeName = r.ControllerName(data.Resource.ControllerName, !config.MultiGroup())
		return append(all, data)
	}
	var all []scaffold.Data
	for _, name := range r.Controllers {
		if r.HasAPI() {
			all = add(all, true, true, name)
		}
		all = add(all, false, true, name)
	}
	if r.HasAPI() {
		all = add(all, true, false, "")
	}
	return all
}

// recordedWebhooks gives the data of create webhook for the webhooks that a resource has in PROJECT, if any.
func (a *app) recordedWebhooks(config *project.Config, r project.Resource, header string) []scaffold.Webhooks {
	if r.Webhooks == nil {
		return nil
	}
	recorded, _ := config.Resource(r.GVK) // whose scope the templates need
	r.API = recorded.API
	return []scaffold.Webhooks{{Data: a.webhookData(config, r, header, *r.Webhooks), Spokes: spokesOf(config, r, r.Webhooks.Spoke)}}
}
