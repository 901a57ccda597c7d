package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// deleteWebhookOptions are the flags of delete webhook. Without a kind of webhooks, all go.
type deleteWebhookOptions struct {
	group, version, kind               string
	defaulting, validation, conversion bool
	// spokes are the versions whose conversion goes, all of them where there are none.
	spokes []string
	// make asks for generated code and manifests.
	force, make bool
}

func newDeleteWebhook(a *app) *cobra.Command {
	var o deleteWebhookOptions
	c := &cobra.Command{
		Use:   "webhook",
		Short: "Delete webhooks: code, tests and configuration",
		Long: `Delete the webhooks of an API, all of them or the given types: their code and tests, the conversion
between versions, what create webhook inserted into the manager, suites and kustomizations, and
their entry in PROJECT. Configuration, service and certificates are deleted with the last webhook of
the project.

If files were edited after create webhook wrote them, they are listed and nothing is deleted;
--force deletes them too. The code of the remaining webhooks does not change. Objects in a cluster
are not deleted.`,
		Example: fmt.Sprintf(`  # All webhooks of an API:
  %[1]s delete webhook --group cache --version v1alpha1 --kind Memcached

  # Only the defaulting webhook:
  %[1]s delete webhook --group cache --version v1alpha1 --kind Memcached --defaulting

  # The conversion of one of several versions to and from the hub, v1:
  %[1]s delete webhook --group cache --version v1 --kind Memcached --conversion --spoke v1alpha1

  # Show what would be deleted, including edited files:
  %[1]s delete webhook --group cache --version v1alpha1 --kind Memcached --force --dry-run`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runDeleteWebhook(c, o) },
	}
	f := c.Flags()
	a.addOffline(f)
	a.addOutput(c, textOutput, jsonOutput)
	f.StringVar(&o.group, "group", "", "`group` of the API, without the project's domain")
	f.StringVar(&o.version, "version", "", "`version` of the API, such as v1alpha1; for conversion, the hub")
	f.StringVar(&o.kind, "kind", "", "`kind` of the resource, such as Memcached")
	f.BoolVar(&o.defaulting, "defaulting", false, "delete the defaulting webhook")
	f.BoolVar(&o.validation, "programmatic-validation", false, "delete the validation webhook")
	f.BoolVar(&o.conversion, "conversion", false, "delete the conversion between versions")
	f.StringSliceVar(&o.spokes, "spoke", nil, "comma-separated `versions` to stop converting (default: all)")
	f.BoolVar(&o.force, "force", false, "delete edited files too")
	f.BoolVar(&o.make, "make", true, "generate code and manifests afterwards")
	return c
}

func (a *app) runDeleteWebhook(c *cobra.Command, o deleteWebhookOptions) error {
	root, config, done, err := a.begin(c.Context())
	if done || err != nil {
		return err
	}
	for i, spoke := range o.spokes {
		o.spokes[i] = strings.TrimSpace(spoke)
	}
	if _, err := o.resolve(config); err != nil {
		return err
	}
	err = a.apply(c.Context(), root, func(tree *worktree.Tree) error { return a.deleteWebhook(c.Context(), tree, o) })
	if err != nil || a.dryRun {
		return err
	}
	a.deletedNext(o.make)
	return nil
}

// resolve finds the resource that the flags name, with the webhooks that are to go.
func (o deleteWebhookOptions) resolve(config *project.Config) (project.Resource, error) {
	r, err := findResource(config, o.group, o.version, o.kind)
	if err != nil {
		return r, err
	}
	if r.Webhooks == nil {
		if hub, ok := hubOf(config, r); ok {
			return r, project.Findings{{Field: "--version", Value: r.Version, Suggestion: hub.Version, Problem: fmt.Sprintf(
				"has no webhooks; its conversion belongs to the hub, --version %s --conversion --spoke %s", hub.Version, r.Version)}}
		}
		return r, project.Findings{{Field: "--kind", Value: o.kind, Problem: fmt.Sprintf("%s has no webhooks", r.GVK)}}
	}
	var findings project.Findings
	have := webhookKinds(*r.Webhooks)
	for _, k := range []struct {
		flag         string
		asked, there bool
	}{
		{"--defaulting", o.defaulting, r.Webhooks.Defaulting},
		{"--programmatic-validation", o.validation, r.Webhooks.Validation},
		{"--conversion", o.conversion, r.Webhooks.Conversion},
	} {
		if k.asked && !k.there {
			findings = append(findings, project.Finding{Field: k.flag, Value: "true",
				Problem: fmt.Sprintf("%s has no such webhook; it has %s", r.GVK, strings.Join(have, ", "))})
		}
	}
	going := project.Webhooks{Defaulting: o.defaulting, Validation: o.validation, Conversion: o.conversion}
	switch {
	case len(o.spokes) > 0 && !o.conversion:
		findings = append(findings, project.Finding{Field: "--spoke", Value: strings.Join(o.spokes, ","), Problem: "is for conversion webhooks; pass --conversion too"})
	case !o.defaulting && !o.validation && !o.conversion:
		going = *r.Webhooks
	case o.conversion && len(o.spokes) == 0:
		going.Spoke = r.Webhooks.Spoke
	case o.conversion && r.Webhooks.Conversion:
		for _, spoke := range o.spokes {
			if !slices.Contains(r.Webhooks.Spoke, spoke) {
				near, _ := project.Nearest(spoke, r.Webhooks.Spoke)
				findings = append(findings, project.Finding{Field: "--spoke", Value: spoke, Suggestion: near,
					Problem: fmt.Sprintf("is not converted to and from %s; %s", r.Version, orNone(r.Webhooks.Spoke, "that is", "no version is"))})
			}
		}
		going.Spoke = o.spokes
		// The hub goes with its last spoke.
		going.Conversion = !slices.ContainsFunc(r.Webhooks.Spoke, func(spoke string) bool { return !slices.Contains(o.spokes, spoke) })
	}
	going.DefaultingPath, going.ValidationPath = r.Webhooks.DefaultingPath, r.Webhooks.ValidationPath
	r.Webhooks = &going
	return r, findings.Err()
}

func orNone(names []string, some, none string) string {
	if len(names) == 0 {
		return none
	}
	return some + " " + strings.Join(names, ", ")
}

// webhookKinds names the kinds of webhooks for people, by the flags that stand for them.
func webhookKinds(w project.Webhooks) []string {
	var kinds []string
	for _, k := range []struct {
		flag  string
		there bool
	}{{"--defaulting", w.Defaulting}, {"--programmatic-validation", w.Validation}, {"--conversion", w.Conversion}} {
		if k.there {
			kinds = append(kinds, k.flag)
		}
	}
	return kinds
}

// deleteWebhook takes the webhooks out of the tree.
func (a *app) deleteWebhook(ctx context.Context, tree *worktree.Tree, o deleteWebhookOptions) error {
	return a.delete(ctx, tree, func(config *project.Config, _ string) (removal, error) {
		going, err := o.resolve(config)
		if err != nil {
			return removal{}, err
		}
		left, _ := config.Resource(going.GVK) // resolve has found it
		left.Webhooks = withoutWebhooks(*left.Webhooks, *going.Webhooks)
		going.API, going.Controllers = nil, nil
		return removal{what: "the webhooks", going: going, left: left, force: o.force, make: o.make, clean: func([]project.Resource) error { return nil }}, nil
	})
}

// withoutWebhooks is what remains of webhooks, nil when that is nothing.
func withoutWebhooks(all, going project.Webhooks) *project.Webhooks {
	all.Defaulting = all.Defaulting && !going.Defaulting
	all.Validation = all.Validation && !going.Validation
	all.Conversion = all.Conversion && !going.Conversion
	if !all.Defaulting {
		all.DefaultingPath = ""
	}
	if !all.Validation {
		all.ValidationPath = ""
	}
	all.Spoke = slices.DeleteFunc(slices.Clone(all.Spoke), func(spoke string) bool { return slices.Contains(going.Spoke, spoke) })
	if !all.Defaulting && !all.Validation && !all.Conversion {
		return nil
	}
	return &all
}
