package action

import (
	"path"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

// APIParts are the parts of a resource that create api writes.
type APIParts struct {
	API, Controller, Namespaced bool
	// SSA generates apply configurations of the types.
	SSA bool
	// ControllerName is empty for the controller with the name of the kind.
	ControllerName string
	// Image is deployed by the controller, unless it is empty.
	Image project.Image
	// From is the version that the types begin with, if any.
	From scaffold.Source
}

// ProjectData returns the data of templates that describes a project.
func (p *Project) ProjectData(config *project.Config, header string) scaffold.Data {
	data := scaffold.Data{
		Project: scaffold.Project{
			Name: config.ProjectName(), Domain: config.Domain(), Repo: config.Repo(),
			MultiGroup: config.MultiGroup(), Namespaced: config.Namespaced(), Layout: config.Facts(),
			Boilerplate: header, CLIName: p.Program, ShortWebhooks: config.ShortWebhooks(),
		},
		Versions: p.Versions(),
	}
	if p.Files != nil {
		data.Project.Certificates = scaffold.FindCertificates(p.Files)
	}
	if i := config.Installation(); i != nil {
		data.Project.ObjectPrefix, data.Project.NoPrefix, data.Project.ObjectNamespace = i.Prefix, i.Prefix == "", i.Namespace
	}
	return data
}

// resourceData returns ProjectData with the fields that describe a resource.
func (p *Project) resourceData(config *project.Config, r project.Resource, header string) scaffold.Data {
	data := p.ProjectData(config, header)
	data.Resource = scaffold.Resource{
		Group: r.Group, Domain: r.Domain, QualifiedGroup: r.QualifiedGroup(),
		Version: r.Version, Kind: r.Kind, Plural: r.Plural,
		Package: r.Path, ImportAlias: importAlias(config, r),
		Core: r.Core, External: r.External,
		IrregularPlural: r.Plural != project.CRDPlural(r.Kind),
	}
	return data
}

// importAlias returns the name that Go files import the types of a resource by. If kinds of one group and version have
// different packages in PROJECT, the names of all but the first contain the kind.
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

// APIData returns the data of create api.
func (p *Project) APIData(config *project.Config, r project.Resource, header string, parts APIParts) scaffold.Data {
	controller := strings.ToLower(r.Kind)
	if parts.ControllerName != "" {
		controller = parts.ControllerName
	}
	data := p.resourceData(config, r, header)
	data.Resource.API, data.Resource.Controller, data.Resource.Namespaced = parts.API, parts.Controller, parts.Namespaced
	data.Resource.SSA, data.Resource.From = parts.SSA, parts.From
	data.Resource.ControllerName = controller
	data.Resource.RuntimeName = r.ControllerName(controller, config.MultiGroup())
	data.Resource.ControllerPackage = controllerPackage(config, r)
	data.Resource.ReconcilerName = r.ReconcilerName(controller)
	if image := parts.Image; image.Ref != "" {
		// The port is valid or empty, which is 0.
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

// PlainData returns the data of templates for a kind without Go types, with the license header of Go files.
func (p *Project) PlainData(config *project.Config, r project.Resource, header string) scaffold.Data {
	data := p.resourceData(config, r, header)
	data.Resource.API, data.Resource.Chart, data.Resource.Namespaced = true, config.IsChart(r), true
	return data
}

// controllerPackage returns the name of the Go package with the controllers of a resource.
func controllerPackage(config *project.Config, r project.Resource) string {
	if config.MultiGroup() {
		return r.PackageName()
	}
	return path.Base(config.Facts().ControllerDir)
}

// WebhookData returns the data of create webhook for the requested webhooks.
func (p *Project) WebhookData(config *project.Config, r project.Resource, header string, requested project.Webhooks) scaffold.Data {
	data := p.resourceData(config, r, header)
	// The scope of external kinds is unknown; a namespace in a cluster-scoped object does no harm.
	data.Resource.Namespaced = r.API == nil || r.API.Namespaced
	group := r.APIGroup()
	if group == "" {
		group = `""`
	}
	data.Webhook = scaffold.Webhook{
		Defaulting: requested.Defaulting, Validation: requested.Validation, Conversion: requested.Conversion,
		DefaultingPath: r.DefaultingPath(), ValidationPath: r.ValidationPath(),
		CustomDefaultingPath: r.Webhooks.DefaultingPath != "", CustomValidationPath: r.Webhooks.ValidationPath != "",
		APIGroup: group, ImportAlias: r.WebhookAlias(config.MultiGroup()),
	}
	return data
}

// SpokesOf returns versions of the hub r as spokes.
func SpokesOf(config *project.Config, r project.Resource, versions []string) []scaffold.Spoke {
	var spokes []scaffold.Spoke
	for _, version := range versions {
		gvk := r.GVK
		gvk.Version = version
		spoke, _ := config.Resource(gvk) // the versions of a conversion are in PROJECT
		spokes = append(spokes, scaffold.Spoke{Version: version, Package: spoke.Path, ImportAlias: spoke.ImportAlias()})
	}
	return spokes
}

// RecordedAPIs returns the data of all create api commands that a resource in PROJECT may result from: types alone, types
// with a controller, each controller alone.
func (p *Project) RecordedAPIs(config *project.Config, r project.Resource, header string) []scaffold.Data {
	image, _ := config.Image(r.GVK)
	var all []scaffold.Data
	add := func(api, controller bool, name string) {
		parts := APIParts{API: api, Controller: controller, Namespaced: r.API == nil || r.API.Namespaced, ControllerName: name, SSA: api && r.API.SSA}
		if api && (controller || len(r.Controllers) == 0) {
			parts.Image = image
		}
		data := p.APIData(config, r, header, parts)
		all = append(all, data)
		if controller {
			// A controller that edit --multigroup moved keeps its name in logs and metrics.
			data.Resource.RuntimeName = r.ControllerName(data.Resource.ControllerName, !config.MultiGroup())
			all = append(all, data)
		}
	}
	for _, name := range r.Controllers {
		if r.HasAPI() {
			add(true, true, name)
		}
		add(false, true, name)
	}
	if !config.HasTypes(r) {
		return append(all, p.PlainData(config, r, header))
	}
	if r.HasAPI() {
		add(true, false, "")
	}
	return all
}

// RecordedWebhooks returns the data of create webhook for the webhooks of a resource in PROJECT, if any.
func (p *Project) RecordedWebhooks(config *project.Config, r project.Resource, header string) []scaffold.Webhooks {
	if r.Webhooks == nil {
		return nil
	}
	recorded, _ := config.Resource(r.GVK) // the templates depend on the scope
	r.API = recorded.API
	return []scaffold.Webhooks{{Data: p.WebhookData(config, r, header, *r.Webhooks), Spokes: SpokesOf(config, r, r.Webhooks.Spoke)}}
}

// Recorded returns the data of the commands that created a project.
func (p *Project) Recorded(config *project.Config, header string) scaffold.Commands {
	commands := scaffold.Commands{Init: p.ProjectData(config, header)}
	for _, r := range config.Resources() {
		commands.APIs = append(commands.APIs, p.RecordedAPIs(config, r, header)...)
		commands.Webhooks = append(commands.Webhooks, p.RecordedWebhooks(config, r, header)...)
	}
	return commands
}
