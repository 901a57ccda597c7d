package runtimekinds

import (
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/project"
)

// ResourceOptions returns the options that identify the API. All kinds with charts are namespaced.
func ResourceOptions(o action.CreateAPIOptions) project.ResourceOptions {
	names := o.ResourceOptions
	names.API, names.Controller, names.Namespaced, names.ControllerName, names.NoTypes = true, false, true, "", true
	return names
}
