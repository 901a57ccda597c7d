package cmd

import (
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

// recordedData gives the data of the create api commands that a resource's entry in PROJECT may stem
// from: types alone, types with a controller, each controller alone.
func (a *app) recordedData(config *project.Config, r project.Resource, header string) []scaffold.Data {
	image, _ := config.Image(r.GVK)
	add := func(all []scaffold.Data, api, controller bool, name string) []scaffold.Data {
		o := apiOptions{ResourceOptions: project.ResourceOptions{API: api, Controller: controller, Namespaced: true}}
		if r.API != nil {
			o.Namespaced = r.API.Namespaced
		}
		if name != strings.ToLower(r.Kind) {
			o.ControllerName = name
		}
		if api && controller || api && len(r.Controllers) == 0 {
			o.image = image
		}
		data := apiData(config, r, o)
		data.Project.Boilerplate, data.Project.CLIName = header, a.program
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
