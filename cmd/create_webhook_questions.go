package cmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/prompt"
	"github.com/operon-sdk/operon/pkg/action/gokinds"
	"github.com/operon-sdk/operon/pkg/project"
)

// The answers about the kind of a webhook that are no kind of the project.
const (
	kubernetesKind = "kubernetes"
	moduleKind     = "module"
)

// askWebhook asks at a terminal for the kind and the webhooks that create webhook adds, if flags don't name them.
func (a *app) askWebhook(c *cobra.Command, config *project.Config, o *gokinds.CreateWebhookOptions) error {
	named := o.Group != "" && o.Version != "" && o.Kind != ""
	chosen := o.Defaulting || o.Validation || o.Conversion || len(o.Spokes) > 0
	if !a.InTerminal || named && chosen {
		return nil
	}
	kinds, hooked := webhookKinds(config, o.Force)
	return a.askFlags(c, func(answers prompt.Answers) []prompt.Step {
		var steps []prompt.Step
		given := o.ResourceOptions
		if !named {
			steps, given = webhookKind(kinds, given, answers)
		}
		missing := project.Webhooks{Defaulting: true, Validation: true}
		for _, r := range config.Resources() {
			if r.Group == given.Group && r.Version == given.Version && r.Kind == given.Kind {
				missing = config.MissingWebhooks(r)
			}
		}
		if !chosen {
			steps = append(steps, prompt.Step{Name: "webhooks", Question: prompt.Question{Text: "Webhooks", Options: webhookOptions(missing, o.Force)}})
		}
		if answers["webhooks"] == "conversion" {
			steps = append(steps, prompt.Step{Name: "spoke", Question: prompt.Question{
				Text: "Versions that convert to and from this one, comma-separated", Default: strings.Join(missing.Spoke, ","), Example: "v1alpha1", Check: answerRequired,
			}})
		}
		if !hooked && o.Certificates == "" {
			steps = append(steps, prompt.Step{Name: "certificates", Question: prompt.Question{Text: "Certificates", Options: []prompt.Option{
				{Value: string(project.CertManager), Text: "cert-manager in the cluster issues them"},
				{Value: string(project.SelfManaged), Text: "the manager issues and renews them"},
				{Value: string(project.Provided), Text: "you create the Secret"},
			}}})
		}
		return steps
	})
}

// webhookKinds returns the kinds in PROJECT that webhooks can be added to: the project's own first, and those without webhooks before
// others. With force, webhooks can be added again. hooked reports whether any kind has webhooks.
func webhookKinds(config *project.Config, force bool) (kinds []project.GVK, hooked bool) {
	var found [4][]project.GVK
	for _, r := range config.Resources() {
		hooked = hooked || r.Webhooks != nil
		missing := config.MissingWebhooks(r)
		if !(config.Owns(r) || r.Core || r.External) || r.Path == "" || !force && !missing.Defaulting && !missing.Validation && !missing.Conversion {
			continue
		}
		place := 0
		if r.Webhooks != nil {
			place = 1
		}
		if !config.Owns(r) {
			place += 2
		}
		found[place] = append(found[place], r.GVK)
	}
	return slices.Concat(found[:]...), hooked
}

// webhookOptions returns the webhooks that a kind lacks, or all if it lacks none or with force.
func webhookOptions(missing project.Webhooks, force bool) []prompt.Option {
	if force || !missing.Defaulting && !missing.Validation && !missing.Conversion {
		missing = project.Webhooks{Defaulting: true, Validation: true, Conversion: true}
	}
	var options []prompt.Option
	add := func(offered bool, option prompt.Option) {
		if offered {
			options = append(options, option)
		}
	}
	add(missing.Defaulting && missing.Validation, prompt.Option{Value: "both", Text: "defaulting and validation", Flags: []string{"--defaulting", "--programmatic-validation"}})
	add(missing.Defaulting, prompt.Option{Value: "defaulting", Text: "defaulting: set fields of new and changed objects", Flags: []string{"--defaulting"}})
	add(missing.Validation, prompt.Option{Value: "validation", Text: "validation: accept or refuse objects", Flags: []string{"--programmatic-validation"}})
	add(missing.Conversion, prompt.Option{Value: "conversion", Text: "conversion between versions of the kind", Flags: []string{"--conversion"}})
	return options
}

// webhookKind returns the questions for the kind, and the names that are given or answered so far.
func webhookKind(kinds []project.GVK, given project.ResourceOptions, answers prompt.Answers) ([]prompt.Step, project.ResourceOptions) {
	options := append(kindOptions(kinds, given),
		prompt.Option{Value: kubernetesKind, Text: "a kind of Kubernetes", Flags: []string{}},
		prompt.Option{Value: moduleKind, Text: "a kind of another Go module", Flags: []string{}})
	steps := []prompt.Step{{Name: "for", Question: prompt.Question{Text: "Kind", Options: options}}}
	switch answer := answers["for"]; answer {
	case kubernetesKind:
		steps = append(steps, prompt.Step{Name: "kind", Question: prompt.Question{Text: "Kind of Kubernetes", Options: kindOptions(project.StableCoreKinds(), given)}})
	case moduleKind:
		steps = append(steps, moduleSteps()...)
		for _, name := range []struct {
			given string
			prompt.Step
		}{
			{given.Group, prompt.Step{Name: "group", Question: prompt.Question{Text: "API group, without the domain", Example: "cert-manager", Check: answerRequired}}},
			{given.Version, prompt.Step{Name: "version", Question: prompt.Question{Text: "API version", Default: "v1"}}},
			{given.Kind, prompt.Step{Name: "kind", Question: prompt.Question{Text: "Kind", Example: "Certificate", Check: answerRequired}}},
		} {
			if name.given == "" {
				steps = append(steps, name.Step)
			}
		}
	default:
		if i := slices.IndexFunc(kinds, func(k project.GVK) bool { return k.String() == answer }); i >= 0 {
			given.Group, given.Version, given.Kind = kinds[i].Group, kinds[i].Version, kinds[i].Kind
		}
	}
	return steps, given
}

// moduleSteps are the questions about Go types of another module.
func moduleSteps() []prompt.Step {
	return []prompt.Step{
		{Name: "external-api-path", Question: prompt.Question{Text: "Import path of the Go types", Example: "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1", Check: answerRequired}},
		{Name: "external-api-domain", Question: prompt.Question{Text: "Domain of the API group, empty for none", Example: "io, of cert-manager.io"}},
		{Name: "external-api-module", Question: prompt.Question{Text: "Go module of the types, empty for one in go.mod", Example: "github.com/cert-manager/cert-manager@v1.18.2"}},
	}
}
