package gokinds

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// CreateWebhookOptions are the options of CreateWebhook.
type CreateWebhookOptions struct {
	project.WebhookOptions
	Plugins project.Plugins
	// Certificates is where the certificate of the webhook server comes from; "" keeps the project's choice.
	Certificates project.Certificates
	// Generate generates code and manifests afterwards.
	Generate bool
}

// CreateWebhook adds webhooks to a kind.
func CreateWebhook(ctx context.Context, p *action.Project, o CreateWebhookOptions) (*action.Result, error) {
	if err := p.RefuseWebhooks(); err != nil {
		return nil, err
	}
	var generate codegen.Generators
	if o.Generate {
		generate = codegen.All
	}
	certManager := false
	result, err := create(ctx, p, creation{
		layouts: action.CurrentLayout, resolve: o.resolve, module: o.ExternalModule, generate: generate,
		write: func(tree *worktree.Tree, config *project.Config, r project.Resource, header string) (written, error) {
			data := p.WebhookData(config, r, header, project.Webhooks{Defaulting: o.Defaulting, Validation: o.Validation, Conversion: o.Conversion})
			var existing []scaffold.Webhooks
			for _, other := range config.Resources() {
				existing = append(existing, p.RecordedWebhooks(config, other, header)...)
			}
			if err := o.chooseCertificates(tree, &data, len(existing) > 0); err != nil {
				return written{}, err
			}
			certManager = len(existing) == 0 && cmp.Or(data.Project.Certificates, project.CertManager) == project.CertManager
			report, err := scaffold.CreateWebhook(tree, data, o.newSpokes(config, r), existing, o.Force)
			if err != nil {
				return written{}, err
			}
			next := "fill in the webhooks and their tests"
			if !o.Defaulting && !o.Validation {
				next = "check the conversions in the package of the API and their tests"
			}
			return written{next: next, report: func() {
				reportMissing(p, report.Missing)
				if len(report.Skipped) > 0 {
					p.Reportf(diag.Warning, "no end-to-end tests were added for the webhooks: %s", strings.Join(report.Skipped, "; "))
				}
				if len(report.NotConverted) > 0 {
					p.Reportf(diag.Warning, "fields without an equal in the other version are not converted yet: %s", strings.Join(report.NotConverted, ", "))
				}
			}}, nil
		},
	})
	if err == nil && certManager {
		result.AddStepf("before you deploy, install cert-manager in the cluster ('%[1]s run local' and '%[1]s test' need none): see '%[1]s docs open certificates'", p.Program)
	}
	return result, err
}

// chooseCertificates sets the source of certificates, which all webhooks of a project share.
func (o CreateWebhookOptions) chooseCertificates(tree *worktree.Tree, data *scaffold.Data, existing bool) error {
	if o.Certificates == "" {
		return nil
	}
	if current := scaffold.FindCertificates(tree); existing && current != o.Certificates {
		return diag.Findings{{Field: "--certificates", Value: string(o.Certificates), Problem: fmt.Sprintf(
			"the project's webhooks have %s certificates; change all of them with 'operon edit --certificates %s'", current, o.Certificates)}}
	}
	data.Project.Certificates = o.Certificates
	return nil
}

// resolve validates the options and returns the resource that they describe.
func (o CreateWebhookOptions) resolve(config *project.Config) (project.Resource, error) {
	findings := append(o.Plugins.CheckKinds(), o.Certificates.Check()...)
	if o.Plugins.WithoutGo() {
		findings.Add("--plugins", o.Plugins.String(), "is for projects without Go code, which have no webhooks")
	}
	resource, others := project.ResolveWebhook(config, o.WebhookOptions)
	return resource, append(findings, others...).Err()
}

// newSpokes returns the versions that a conversion is scaffolded for.
func (o CreateWebhookOptions) newSpokes(config *project.Config, r project.Resource) []scaffold.Spoke {
	var existing []string
	if old, ok := config.Resource(r.GVK); ok && old.Webhooks != nil && !o.Force {
		existing = old.Webhooks.Spoke
	}
	return action.SpokesOf(config, r, slices.DeleteFunc(slices.Clone(o.Spokes), func(version string) bool { return slices.Contains(existing, version) }))
}
