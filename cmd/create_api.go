package cmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/cmd/internal/prompt"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/project"
)

func newCreateAPI(a *app) *cobra.Command {
	var o action.CreateAPIOptions
	c := &cobra.Command{
		Use:   "api",
		Short: "Add an API: types, manifests and a controller",
		Long: `Add an API: its Go types, CRD, roles and sample, and a controller with tests that is registered with
the manager. With --image, the controller deploys that image and keeps it as the resource specifies;
without it, the controller is a small reconciler for you to complete.

At a terminal, the command asks for what the flags leave open, and shows the same command with flags.
From a pipe, it asks for --resource and --controller.

A further version of a kind begins with a copy of the newest one's types and sample, so that objects
convert between both without loss. --from names another version to copy, or none.

In a Helm project, and with --helm-chart in a Go project, add a kind whose objects are Helm
releases: the chart, its entry in watches.yaml, the CRD with a schema for the chart's values, the
operator's permissions, roles and a sample. --helm-chart is a directory, an archive, a URL, an
oci:// reference, REPOSITORY/NAME from your Helm repositories, or the name of a chart in
--helm-chart-repo. Without it, you get Helm's starter chart; in a Go project, this requires
--plugins helm. The kind defaults to the name of the chart, and the group to charts, or to a Go
project's only group.

In an Ansible project, add a kind whose objects a role or playbook reconciles: the role roles/<kind>
with --generate-role, the playbook playbooks/<kind>.yml with --generate-playbook (it runs the role
if there are both), the entry in watches.yaml, the CRD, the operator's permissions, roles, a sample
and a test. Without these flags, add the role or playbook to watches.yaml yourself. An existing role
or playbook of that name is used unchanged.

A Go project's first kind with a chart also adds internal/charts, which main.go calls and which
reconciles all such kinds, and Operon's module to go.mod.`,
		Example: fmt.Sprintf(`  # An API with a controller to complete:
  %[1]s create api --group cache --version v1alpha1 --kind Memcached --resource --controller

  # A controller that deploys an image:
  %[1]s create api --group cache --version v1alpha1 --kind Memcached --image memcached:1.6.39-alpine

  # A further version, as a copy of the newest, without another controller:
  %[1]s create api --group cache --version v1beta1 --kind Memcached --resource --controller=false

  # A controller for a built-in kind, or for a kind from another project:
  %[1]s create api --group apps --version v1 --kind Deployment --resource=false --controller
  %[1]s create api --group cert-manager --version v1 --kind Certificate --resource=false --controller --external-api-path github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1 --external-api-domain io --external-api-module github.com/cert-manager/cert-manager@v1.18.2

  # In a Helm project, a chart from a repository, from a registry, or a new one:
  %[1]s create api --helm-chart memcached --helm-chart-repo https://charts.example.com --helm-chart-version 1.2.3
  %[1]s create api --group cache --kind Memcached --helm-chart oci://registry.example.com/charts/memcached
  %[1]s create api --group cache --version v1alpha1 --kind Memcached

  # In a Go project, a kind with a chart next to kinds with Go types:
  %[1]s create api --group cache --kind Memcached --helm-chart ./charts/memcached

  # In an Ansible project, a kind with a role:
  %[1]s create api --group cache --version v1alpha1 --kind Memcached --generate-role

  # Answers from a pipe:
  printf 'y\ny\n' | %[1]s create api --group cache --version v1 --kind Memcached`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runCreateAPI(c, &o) },
	}
	f := c.Flags()
	f.SortFlags = false // help lists the flags that most commands need first
	f.StringVar(&o.Group, "group", "", "`group` of the API, without the project's domain")
	f.StringVar(&o.Version, "version", "", "`version` of the API, such as v1alpha1")
	f.StringVar(&o.Kind, "kind", "", "`kind` of the resource, such as Memcached")
	f.BoolVar(&o.Namespaced, "namespaced", true, "create a namespaced resource, or =false a cluster-scoped one; another version of a kind keeps the scope of the first")
	f.BoolVar(&o.API, "resource", true, "write the types of the API (default: ask)")
	f.BoolVar(&o.Controller, "controller", true, "write a controller (default: ask)")
	f.StringVar(&o.Image.Ref, "image", "", "`image` that the controller deploys")
	f.StringVar(&o.Image.Command, "image-container-command", "", "`command` of the container, as comma-separated words")
	f.StringVar(&o.Image.Port, "image-container-port", "", "`port` of the container")
	f.StringVar(&o.Image.RunAsUser, "run-as-user", "", "numeric `user` ID of the container")
	f.StringVar(&o.From, "from", "", "`version` of the kind whose types and sample a new version begins with, or none (default: the newest)")
	f.BoolVar(&o.SSA, "ssa", false, "generate apply configurations of the types, and use server-side apply in the controller")
	f.StringVar(&o.Plural, "plural", "", "`plural` of the kind (default: derived from --kind)")
	f.StringVar(&o.ControllerName, "controller-name", "", "`name` of the controller, for a second controller of a kind")
	addExternal(f, &o.ResourceOptions)
	addChart(c, &o.Chart)
	addRun(c, &o.Run)
	f.BoolVar(&o.Force, "force", false, "overwrite the types and the controller of an existing API")
	f.BoolVar(&o.Generate, "make", true, "generate code and manifests afterwards")
	f.BoolVar(&o.Manifests, "manifests", true, "generate manifests afterwards; --make=false skips both code and manifests")
	a.addPlugins(f, "`plugins` to use; --image selects deploy-image/v1-alpha")
	_ = c.RegisterFlagCompletionFunc("plugins", a.completeKindPlugins)
	a.addOffline(f)
	a.addOutput(c, output.Text, output.JSON)
	return c
}

func (a *app) runCreateAPI(c *cobra.Command, o *action.CreateAPIOptions) error {
	return a.runInProject(c.Context(), func(p *action.Project) (*action.Result, error) {
		config, err := p.Load(action.ScaffoldedLayouts)
		if err != nil {
			return nil, err
		}
		o.Plugins = a.parsedPlugins()
		if err := a.askKind(c, config, o); err != nil {
			return nil, err
		}
		o.Plugins = a.parsedPlugins()
		command, types := config.Facts().CreateCommand(o.HasChart())
		o.Findings = refuse(c, config.Facts(), command)
		if !types {
			o.Findings = append(o.Findings, checkCRDVersion(a.print, c)...)
			return p.CreateAPI(c.Context(), *o)
		}
		if !o.API && !o.Controller {
			return nil, nothingToCreate(c)
		}
		if c.Flags().Changed("image") && o.Image.Ref == "" {
			return nil, project.CheckImage("--image", o.Image.Ref)
		}
		if !c.Flags().Changed("namespaced") {
			o.Namespaced = project.DefaultScope(config, o.ResourceOptions)
		}
		// Invalid flags are reported before the prompts.
		if err := o.Check(config); err != nil {
			return nil, err
		}
		if err := a.askParts(c, o); err != nil {
			return nil, err
		}
		return p.CreateAPI(c.Context(), *o)
	})
}

// askParts prompts for --resource and --controller unless they are given. An image needs both.
func (a *app) askParts(c *cobra.Command, o *action.CreateAPIOptions) error {
	type part struct {
		flag, question string
		value          *bool
	}
	var open []part
	for _, p := range []part{{"resource", "Create Resource", &o.API}, {"controller", "Create Controller", &o.Controller}} {
		if !c.Flags().Changed(p.flag) && !o.DeploysImage() {
			open = append(open, p)
		}
	}
	for i, p := range open {
		answer, err := a.prompt().Confirm(p.question, true)
		if errors.Is(err, prompt.ErrNoAnswer) || errors.Is(err, prompt.ErrBadAnswers) {
			var flags []string
			for _, p := range open[i:] {
				flags = append(flags, fmt.Sprintf("--%s or --%[1]s=false", p.flag))
			}
			return usagef(c, "%w; pass %s", err, strings.Join(flags, ", and "))
		}
		if err != nil {
			return err
		}
		*p.value = answer
		a.answered = append(a.answered, fmt.Sprintf("--%s=%t", p.flag, answer))
	}
	if !o.API && !o.Controller {
		return nothingToCreate(c)
	}
	return nil
}

func nothingToCreate(c *cobra.Command) error {
	return usagef(c, "nothing to create; pass --resource or --controller")
}
