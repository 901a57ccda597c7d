package cmd

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/project"
)

func newCreate(a *app) *cobra.Command {
	return a.commandGroup("create", "Add an API or webhooks to the project",
		`  %[1]s create api --group cache --version v1alpha1 --kind Memcached --resource --controller
  %[1]s create webhook --group cache --version v1alpha1 --kind Memcached --defaulting`, newCreateAPI(a), newCreateWebhook(a))
}

// addExternal adds the flags for APIs whose types are in another module.
func addExternal(f *pflag.FlagSet, o *project.ResourceOptions) {
	f.StringVar(&o.ExternalPath, "external-api-path", "", "import `path` of types from another module")
	f.StringVar(&o.ExternalDomain, "external-api-domain", "", "`domain` of that API's group")
	f.StringVar(&o.ExternalModule, "external-api-module", "", "`module` of the types: path@v1.2.3, or path for the latest version")
}
