package project

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// WebhookOptions are the flags of create webhook. Of the ResourceOptions, API and Controller stay false.
type WebhookOptions struct {
	ResourceOptions
	Defaulting, Validation, Conversion bool
	// Spokes are the versions that convert to and from the one that the options name.
	Spokes []string
	// DefaultingPath and ValidationPath replace the paths that the webhooks are served on.
	DefaultingPath, ValidationPath string
}

// ResolveWebhook computes the resource that the options mean, with the new webhooks added to those it has, as
// PROJECT is to record it. The findings name everything that is wrong with the options.
func ResolveWebhook(c *Config, o WebhookOptions) (Resource, Findings) {
	r, findings := webhookResource(c, o)
	named := len(findings) == 0
	findings = append(findings, webhookKinds(o)...)
	findings = append(findings, checkWebhookPath("--defaulting-path", o.DefaultingPath, "--defaulting", o.Defaulting)...)
	findings = append(findings, checkWebhookPath("--validation-path", o.ValidationPath, "--programmatic-validation", o.Validation)...)
	if o.DefaultingPath != "" && o.DefaultingPath == o.ValidationPath {
		findings = append(findings, one("--validation-path", o.ValidationPath, "is the path of the defaulting webhook too", "")...)
	}
	if !named {
		return r, findings
	}
	if o.Conversion {
		findings = append(findings, checkSpokes(c, r, o)...)
	}
	findings = append(findings, webhookCollisions(c, r, o)...)
	webhooks := Webhooks{}
	if r.Webhooks != nil {
		webhooks = *r.Webhooks
		webhooks.Spoke = slices.Clone(webhooks.Spoke)
	}
	webhooks.WebhookVersion = "v1"
	webhooks.Defaulting = webhooks.Defaulting || o.Defaulting
	webhooks.Validation = webhooks.Validation || o.Validation
	if o.DefaultingPath != "" {
		webhooks.DefaultingPath = o.DefaultingPath
	}
	if o.ValidationPath != "" {
		webhooks.ValidationPath = o.ValidationPath
	}
	if o.Conversion {
		webhooks.Conversion = true
		for _, spoke := range o.Spokes {
			if !slices.Contains(webhooks.Spoke, spoke) {
				webhooks.Spoke = append(webhooks.Spoke, spoke)
			}
		}
	}
	r.Webhooks = &webhooks
	return r, findings
}

// webhookResource finds the API that the webhooks are for: of the project, of Kubernetes or of another module.
func webhookResource(c *Config, o WebhookOptions) (Resource, Findings) {
	r, findings := resolveOrigin(c, o.ResourceOptions)
	for i := range findings {
		if strings.HasPrefix(findings[i].Problem, "the project has no API") {
			findings[i].Problem = fmt.Sprintf("the project has no API %s; create it with `create api`, or say where its Go types are with --external-api-path", r.GVK)
			if o.Group == "" {
				findings[i] = Finding{Field: "--group", Problem: "must name the group of the API", Suggestion: groupWith(c, o.Kind)}
			}
		}
		findings[i].Problem = strings.TrimSuffix(findings[i].Problem, ", or pass --resource=false")
	}
	if len(findings) == 0 && r.Path == "" {
		findings = append(findings, one("--kind", o.Kind,
			fmt.Sprintf("the project has no Go types of %s; create them with `create api --resource`, or say where they are with --external-api-path", r.GVK), "")...)
	}
	if o.Plural != "" {
		findings = append(findings, CheckPlural(o.Plural)...)
		if _, there := c.Resource(r.GVK); there && r.Plural != o.Plural && len(findings) == 0 {
			findings = append(findings, one("--plural", o.Plural, "the project records another plural for the kind", r.Plural)...)
		}
		r.Plural = o.Plural
	}
	return r, findings
}

// groupWith is the group of the project that has a kind, empty where there is none.
func groupWith(c *Config, kind string) string {
	for _, r := range c.Resources() {
		if r.Kind == kind {
			return r.Group
		}
	}
	return ""
}

// webhookKinds checks which webhooks the options ask for, without a look at the project.
func webhookKinds(o WebhookOptions) Findings {
	var findings Findings
	if len(o.Spokes) > 0 && !o.Conversion {
		findings = append(findings, one("--spoke", strings.Join(o.Spokes, ","), "is for conversion webhooks; pass --conversion too", "")...)
	} else if !o.Defaulting && !o.Validation && !o.Conversion {
		findings = append(findings, one("--defaulting", "false",
			"a webhook defaults, validates or converts; pass --defaulting, --programmatic-validation or --conversion, or several", "")...)
	}
	return findings
}

// webhookPath is what controller-runtime takes for the path of a webhook, but for the root.
var webhookPath = regexp.MustCompile(`^(/[a-zA-Z0-9-_]+)+$`)

func checkWebhookPath(flag, p, kindFlag string, kind bool) Findings {
	suggestion := "/" + strings.Trim(regexp.MustCompile(`[^a-zA-Z0-9-_/]+|//+`).ReplaceAllString(p, "-"), "/-")
	if !webhookPath.MatchString(suggestion) {
		suggestion = ""
	}
	switch {
	case p == "":
		return nil
	case !kind:
		return one(flag, p, "is of no use without "+kindFlag, "")
	case !strings.HasPrefix(p, "/"):
		return one(flag, p, "must start with a slash", suggestion)
	case !webhookPath.MatchString(p):
		return one(flag, p, "must consist of parts such as /mutate-me, of letters, digits, '-' and '_'", suggestion)
	case p == "/convert":
		return one(flag, p, "is the path of conversion webhooks", "")
	}
	return nil
}

// checkSpokes validates the versions of a conversion webhook.
func checkSpokes(c *Config, r Resource, o WebhookOptions) Findings {
	if r.Core || r.External {
		return one("--conversion", "true", "converts kinds of the project; where "+r.GVK.String()+" comes from, it is converted too", "")
	}
	var others []string
	for _, other := range c.Resources() {
		if other.Group != r.Group || other.Domain != r.Domain || other.Kind != r.Kind || other.Version == r.Version {
			continue
		}
		if other.Webhooks != nil && other.Webhooks.Conversion {
			return one("--version", o.Version, fmt.Sprintf("version %s is the hub of the kind already, to and from which others convert", other.Version), other.Version)
		}
		if other.HasAPI() {
			others = append(others, other.Version)
		}
	}
	if len(others) == 0 {
		return one("--conversion", "true", fmt.Sprintf("%s has one version only, there is nothing to convert; create another version with `create api` first", r.Kind), "")
	}
	if len(o.Spokes) == 0 {
		return one("--spoke", "", fmt.Sprintf("is required: the versions that convert to and from %s", r.Version), strings.Join(others, ","))
	}
	var findings Findings
	for i, spoke := range o.Spokes {
		near, _ := diag.Nearest(spoke, others)
		switch {
		case spoke == "":
			findings = append(findings, one("--spoke", spoke, "must not contain an empty version", strings.Join(others, ","))...)
		case spoke == r.Version:
			findings = append(findings, one("--spoke", spoke, "is the hub itself, which --version names; spokes are the other versions", strings.Join(others, ","))...)
		case !slices.Contains(others, spoke):
			if near == "" && len(others) == 1 {
				near = others[0]
			}
			findings = append(findings, one("--spoke", spoke, fmt.Sprintf("the project has no %s in this version; it has %s", r.Kind, strings.Join(others, ", ")), near)...)
		case slices.Contains(o.Spokes[:i], spoke):
			findings = append(findings, one("--spoke", spoke, "is given twice", "")...)
		}
	}
	return findings
}

// webhookCollisions finds webhooks that exist already, and files and paths of others.
func webhookCollisions(c *Config, r Resource, o WebhookOptions) Findings {
	var findings Findings
	have := Webhooks{}
	if r.Webhooks != nil {
		have = *r.Webhooks
	}
	exists := func(flag string, asked, there bool) {
		if asked && there && !o.Force {
			findings = append(findings, one(flag, "true", fmt.Sprintf("the webhook of %s already exists; leave the flag out, or pass --force to write it again", r.GVK), "")...)
		}
	}
	exists("--defaulting", o.Defaulting, have.Defaulting)
	exists("--programmatic-validation", o.Validation, have.Validation)
	isNew := func(spoke string) bool { return !slices.Contains(have.Spoke, spoke) }
	exists("--conversion", o.Conversion, have.Conversion && !slices.ContainsFunc(o.Spokes, isNew))
	for _, other := range c.Resources() {
		if other.GVK == r.GVK || other.Webhooks == nil {
			continue
		}
		samePackage := !c.MultiGroup() || other.Group == r.Group
		if samePackage && other.Version == r.Version && strings.EqualFold(other.Kind, r.Kind) {
			findings = append(findings, one("--kind", o.Kind, fmt.Sprintf("the webhooks of %s have the same file; `edit --multigroup` gives each group its own folder", other.GVK), "")...)
		}
		findings = append(findings, pathCollisions("--defaulting-path", o.DefaultingPath, other)...)
		findings = append(findings, pathCollisions("--validation-path", o.ValidationPath, other)...)
	}
	if o.DefaultingPath != "" && !o.Validation && o.DefaultingPath == have.ValidationPath {
		findings = append(findings, one("--defaulting-path", o.DefaultingPath, "is the path of the validation webhook already", "")...)
	}
	if o.ValidationPath != "" && !o.Defaulting && o.ValidationPath == have.DefaultingPath {
		findings = append(findings, one("--validation-path", o.ValidationPath, "is the path of the defaulting webhook already", "")...)
	}
	return findings
}

func pathCollisions(flag, p string, other Resource) Findings {
	if p == "" {
		return nil
	}
	w := other.Webhooks
	if w.Defaulting && p == other.DefaultingPath() || w.Validation && p == other.ValidationPath() {
		return one(flag, p, fmt.Sprintf("is the path of a webhook of %s already", other.GVK), "")
	}
	return nil
}

// DefaultingPath is the path that the defaulting webhook is served on.
func (r Resource) DefaultingPath() string {
	if r.Webhooks != nil && r.Webhooks.DefaultingPath != "" {
		return r.Webhooks.DefaultingPath
	}
	return r.webhookPath("/mutate-")
}

// ValidationPath is the path that the validation webhook is served on.
func (r Resource) ValidationPath() string {
	if r.Webhooks != nil && r.Webhooks.ValidationPath != "" {
		return r.Webhooks.ValidationPath
	}
	return r.webhookPath("/validate-")
}

// webhookPath is the path that controller-runtime gives a webhook without one of its own.
func (r Resource) webhookPath(prefix string) string {
	return prefix + strings.ReplaceAll(r.APIGroup(), ".", "-") + "-" + r.Version + "-" + strings.ToLower(r.Kind)
}

// APIGroup is the group as the API server has it, empty for the legacy core group.
func (r Resource) APIGroup() string {
	if r.Core && r.QualifiedGroup() == "core" {
		return ""
	}
	return r.QualifiedGroup()
}
