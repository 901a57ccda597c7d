package gokinds

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// DeleteWebhookOptions are the options of DeleteWebhook. Without Defaulting, Validation and Conversion, all webhooks are deleted.
type DeleteWebhookOptions struct {
	Group, Version, Kind               string
	Defaulting, Validation, Conversion bool
	// Spokes are the versions whose conversion is deleted; none means all.
	Spokes []string
	// Force deletes edited files, too.
	Force bool
	// Generate generates code and manifests afterwards.
	Generate bool
}

// DeleteWebhook deletes webhooks of an API.
func DeleteWebhook(ctx context.Context, p *action.Project, o DeleteWebhookOptions) (*action.Result, error) {
	if err := p.RefuseWebhooks(); err != nil {
		return nil, err
	}
	return deletePart(ctx, p, action.CurrentLayout, o.Generate, func(_ *worktree.Tree, config *project.Config, _ string) (deletion, error) {
		removed, err := o.resolve(config)
		if err != nil {
			return deletion{}, err
		}
		kept, _ := config.Resource(removed.GVK) // resolve has found it
		kept.Webhooks = withoutWebhooks(*kept.Webhooks, *removed.Webhooks)
		removed.API, removed.Controllers = nil, nil
		return deletion{subject: "the webhooks", removed: removed, kept: kept, force: o.Force, generate: o.Generate}, nil
	})
}

// resolve returns the resource that the options name, with the webhooks to delete.
func (o DeleteWebhookOptions) resolve(config *project.Config) (project.Resource, error) {
	r, err := action.FindResource(config, o.Group, o.Version, o.Kind)
	if err != nil {
		return r, err
	}
	if r.Webhooks == nil {
		if hub, ok := action.HubOf(config, r); ok {
			return r, diag.Findings{{Field: "--version", Value: r.Version, Suggestion: hub.Version, Problem: fmt.Sprintf(
				"has no webhooks; its conversion belongs to the hub, --version %s --conversion --spoke %s", hub.Version, r.Version)}}
		}
		return r, diag.Findings{{Field: "--kind", Value: o.Kind, Problem: fmt.Sprintf("%s has no webhooks", r.GVK)}}
	}
	var findings diag.Findings
	existing := webhookFlags(r.Webhooks.Defaulting, r.Webhooks.Validation, r.Webhooks.Conversion)
	for _, flag := range webhookFlags(o.Defaulting, o.Validation, o.Conversion) {
		if !slices.Contains(existing, flag) {
			findings = append(findings, diag.Finding{Field: flag, Value: "true",
				Problem: fmt.Sprintf("%s has no such webhook; it has %s", r.GVK, strings.Join(existing, ", "))})
		}
	}
	removed := project.Webhooks{Defaulting: o.Defaulting, Validation: o.Validation, Conversion: o.Conversion}
	switch {
	case len(o.Spokes) > 0 && !o.Conversion:
		findings.Add("--spoke", strings.Join(o.Spokes, ","), "is for conversion webhooks; pass --conversion too")
	case !o.Defaulting && !o.Validation && !o.Conversion:
		removed = *r.Webhooks
	case o.Conversion && len(o.Spokes) == 0:
		removed.Spoke = r.Webhooks.Spoke
	case o.Conversion && r.Webhooks.Conversion:
		versions := "no version is"
		if len(r.Webhooks.Spoke) > 0 {
			versions = "that is " + strings.Join(r.Webhooks.Spoke, ", ")
		}
		for _, spoke := range o.Spokes {
			if !slices.Contains(r.Webhooks.Spoke, spoke) {
				near, _ := diag.Nearest(spoke, r.Webhooks.Spoke)
				findings = append(findings, diag.Finding{Field: "--spoke", Value: spoke, Suggestion: near,
					Problem: fmt.Sprintf("is not converted to and from %s; %s", r.Version, versions)})
			}
		}
		removed.Spoke = o.Spokes
		// The hub is deleted with its last spoke.
		removed.Conversion = !slices.ContainsFunc(r.Webhooks.Spoke, func(spoke string) bool { return !slices.Contains(o.Spokes, spoke) })
	}
	removed.DefaultingPath, removed.ValidationPath = r.Webhooks.DefaultingPath, r.Webhooks.ValidationPath
	r.Webhooks = &removed
	return r, findings.Err()
}

// webhookFlags returns the flags for types of webhooks.
func webhookFlags(defaulting, validation, conversion bool) []string {
	var flags []string
	if defaulting {
		flags = append(flags, "--defaulting")
	}
	if validation {
		flags = append(flags, "--programmatic-validation")
	}
	if conversion {
		flags = append(flags, "--conversion")
	}
	return flags
}

// withoutWebhooks returns all webhooks except for the removed ones, or nil if none remain.
func withoutWebhooks(all, removed project.Webhooks) *project.Webhooks {
	all.Defaulting = all.Defaulting && !removed.Defaulting
	all.Validation = all.Validation && !removed.Validation
	all.Conversion = all.Conversion && !removed.Conversion
	if !all.Defaulting {
		all.DefaultingPath = ""
	}
	if !all.Validation {
		all.ValidationPath = ""
	}
	all.Spoke = slices.DeleteFunc(slices.Clone(all.Spoke), func(spoke string) bool { return slices.Contains(removed.Spoke, spoke) })
	if !all.Defaulting && !all.Validation && !all.Conversion {
		return nil
	}
	return &all
}
