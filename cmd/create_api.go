package cmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// apiOptions are the flags of create api.
type apiOptions struct {
	project.ResourceOptions
	image   project.Image
	plugins []string
	// make and manifests ask for generated code and manifests.
	make, manifests bool
	// ssa asks for apply configurations.
	ssa bool
}

func newCreateAPI(a *app) *cobra.Command {
	var o apiOptions
	c := &cobra.Command{
		Use:   "api",
		Short: "Add an API: types, manifests and a controller",
		Long: `Add the Go types of an API, its CRD, roles and sample, and a controller with tests, and register
them with the manager. With --image the controller deploys that image and keeps it as the resource
specifies; without it, the controller is a small reconciler to complete.

If --resource or --controller is not given, the command asks.`,
		Example: fmt.Sprintf(`  # An API with a controller to complete:
  %[1]s create api --group cache --version v1alpha1 --kind Memcached --resource --controller

  # A controller that deploys an image:
  %[1]s create api --group cache --version v1alpha1 --kind Memcached --image memcached:1.6.39-alpine

  # A controller for a kind of Kubernetes or of another project:
  %[1]s create api --group apps --version v1 --kind Deployment --resource=false --controller
  %[1]s create api --group cert-manager --version v1 --kind Certificate --resource=false --controller --external-api-path github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1 --external-api-domain io --external-api-module github.com/cert-manager/cert-manager@v1.18.2

  # Answers from a pipe:
  printf 'y\ny\n' | %[1]s create api --group cache --version v1 --kind Memcached`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runCreateAPI(c, o) },
	}
	f := c.Flags()
	a.addOffline(f)
	a.addOutput(c, textOutput, jsonOutput)
	f.StringVar(&o.Group, "group", "", "`group` of the API, without the project's domain")
	f.StringVar(&o.Version, "version", "", "`version` of the API, such as v1alpha1")
	f.StringVar(&o.Kind, "kind", "", "`kind` of the resource, such as Memcached")
	f.StringVar(&o.Plural, "plural", "", "`plural` of the kind (default: derived from --kind)")
	f.BoolVar(&o.Namespaced, "namespaced", true, "create a namespaced resource, or =false a cluster-scoped one; another version of a kind keeps the scope of the first")
	f.BoolVar(&o.API, "resource", true, "write the types of the API (default: ask)")
	f.BoolVar(&o.Controller, "controller", true, "write a controller (default: ask)")
	f.StringVar(&o.ControllerName, "controller-name", "", "`name` of the controller, for a second controller of a kind")
	f.BoolVar(&o.Force, "force", false, "overwrite the types and the controller of an existing API")
	f.BoolVar(&o.make, "make", true, "generate code and manifests afterwards")
	f.BoolVar(&o.manifests, "manifests", true, "generate manifests afterwards; --make=false skips both code and manifests")
	f.BoolVar(&o.ssa, "ssa", false, "generate apply configurations of the types, and use server-side apply in the controller")
	addExternal(f, &o.ResourceOptions)
	f.StringVar(&o.image.Ref, "image", "", "`image` that the controller deploys")
	f.StringVar(&o.image.Command, "image-container-command", "", "`command` of the container, as comma-separated words")
	f.StringVar(&o.image.Port, "image-container-port", "", "`port` of the container")
	f.StringVar(&o.image.RunAsUser, "run-as-user", "", "numeric `user` ID of the container")
	a.addPlugins(f, "`plugins` to use; --image selects deploy-image/v1-alpha")
	completeValues(c, "plugins", "go/v4", "deploy-image/v1-alpha")
	return c
}

func (a *app) runCreateAPI(c *cobra.Command, o apiOptions) error {
	root, config, done, err := a.beginWith(c.Context(), loadOlderProject)
	if done || err != nil {
		return err
	}
	o.plugins = a.plugins
	if !o.API && !o.Controller {
		return nothingToCreate(c)
	}
	if c.Flags().Changed("image") && o.image.Ref == "" {
		return project.CheckImage("--image", o.image.Ref)
	}
	if err := a.askNames(config, &o.ResourceOptions); err != nil {
		return err
	}
	if !c.Flags().Changed("namespaced") {
		o.Namespaced = project.DefaultScope(config, o.ResourceOptions)
	}
	// What the flags get wrong is said before anything is asked.
	if _, err := o.resolve(config); err != nil {
		return err
	}
	if err := a.askParts(c, &o); err != nil {
		return err
	}
	return a.create(c.Context(), root, a.apiCreation(o))
}

// askNames asks at a terminal for the group, version and kind that flags leave open.
func (a *app) askNames(config *project.Config, o *project.ResourceOptions) error {
	if !a.InTerminal {
		return nil
	}
	group := ""
	if resources := config.Resources(); len(resources) > 0 {
		group = resources[len(resources)-1].Group
	}
	for _, q := range []struct {
		flag  string
		value *string
		Question
	}{
		{"group", &o.Group, Question{Text: "Group", Example: "cache", Default: group, Check: func(group string) error { return project.CheckGroup(group, config.Domain()).Err() }}},
		{"version", &o.Version, Question{Text: "Version", Example: "v1beta1", Default: "v1alpha1", Check: func(version string) error { return project.CheckVersion(version).Err() }}},
		{"kind", &o.Kind, Question{Text: "Kind", Example: "Memcached", Check: func(kind string) error { return project.CheckKind(kind).Err() }}},
	} {
		if *q.value != "" {
			continue
		}
		answer, err := a.prompt().Input(q.Question)
		if err != nil {
			return err
		}
		*q.value = answer
		a.answered = append(a.answered, "--"+q.flag, answer)
	}
	return nil
}

// askParts asks what to write, unless the flags say so. An image needs both parts.
func (a *app) askParts(c *cobra.Command, o *apiOptions) error {
	type part struct {
		flag, question string
		value          *bool
	}
	var open []part
	for _, p := range []part{{"resource", "Create Resource", &o.API}, {"controller", "Create Controller", &o.Controller}} {
		if !c.Flags().Changed(p.flag) && !o.deployImage() {
			open = append(open, p)
		}
	}
	for i, p := range open {
		answer, err := a.prompt().Confirm(p.question, true)
		if errors.Is(err, errNoAnswer) || errors.Is(err, errBadAnswers) {
			var flags []string
			for _, p := range open[i:] {
				flags = append(flags, fmt.Sprintf("--%s or --%[1]s=false", p.flag))
			}
			return usagef(c, "%w; give %s", err, strings.Join(flags, ", and "))
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
	return usagef(c, "with neither --resource nor --controller there is nothing to create")
}

// deployImage tells whether the controller is to run an image.
func (o *apiOptions) deployImage() bool {
	plugins, _ := project.CheckPlugins(o.plugins)
	return o.image.Ref != "" || plugins.DeployImage
}

// resolve validates all flags together and completes the resource that they name.
func (o *apiOptions) resolve(config *project.Config) (project.Resource, error) {
	_, findings := project.CheckPlugins(o.plugins)
	resource, wrong := project.ResolveResource(config, o.ResourceOptions)
	findings = append(findings, wrong...)
	if o.ssa && !o.API {
		findings = append(findings, project.Finding{Field: "--ssa", Value: "true", Problem: "is for types that the command writes; leave out --resource=false, or the flag"})
	}
	if o.ssa && o.deployImage() {
		findings = append(findings, project.Finding{Field: "--ssa", Value: "true", Problem: "is not supported with --image"})
	}
	if o.deployImage() {
		if !o.API {
			findings = append(findings, project.Finding{Field: "--image", Value: o.image.Ref, Problem: "comes with types whose spec says how to run it; leave out --resource=false, or the image"})
		}
		if !o.Controller {
			findings = append(findings, project.Finding{Field: "--image", Value: o.image.Ref, Problem: "needs the controller that runs it; leave out --controller=false"})
		}
		findings = append(findings, project.CheckImage("--image", o.image.Ref)...)
		findings = append(findings, project.CheckPort(o.image.Port)...)
		findings = append(findings, project.CheckRunAsUser(o.image.RunAsUser)...)
	} else if o.image != (project.Image{}) {
		findings = append(findings, project.Finding{Field: "--image", Problem: "is required with the other flags of the container"})
	}
	return resource, findings.Err()
}

// apiCreation is what create api does.
func (a *app) apiCreation(o apiOptions) creation {
	return creation{
		load: loadOlderProject, resolve: o.resolve, module: o.ExternalModule, generate: o.parts(), edit: "edit the types and the controller",
		write: func(tree *worktree.Tree, config *project.Config, r project.Resource, header string) (func(), error) {
			data := a.apiData(config, r, header, apiParts{
				api: o.API, controller: o.Controller, namespaced: o.Namespaced, controllerName: o.ControllerName, image: o.image, ssa: o.ssa,
			})
			report, err := scaffold.CreateAPI(tree, data, o.Force)
			if err != nil {
				return nil, err
			}
			if o.deployImage() {
				if old, ok := config.Image(r.GVK); ok {
					scaffold.ReplaceImage(tree, data, old.Ref)
				}
				if err := config.SetImage(r.GVK, o.image); err != nil {
					return nil, err
				}
			}
			return func() {
				if len(report.Kept) > 0 {
					a.notef("kept as they are: %s", strings.Join(report.Kept, ", "))
				}
			}, nil
		},
	}
}

// parts are the generators that --make and --manifests leave on.
func (o *apiOptions) parts() codegen.Generators {
	switch {
	case !o.make:
		return 0
	case !o.manifests && o.ssa:
		return codegen.Object | codegen.ApplyConfiguration // the controller does not compile without
	case !o.manifests:
		return codegen.Object
	}
	return codegen.All
}
