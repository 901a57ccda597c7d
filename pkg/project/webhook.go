package project

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// WebhookOptions are the flags of create webhook. API and Controller of the ResourceOptions are false.
type WebhookOptions struct {
	ResourceOptions
	Defaulting, Validation, Conversion bool
	// Spokes are the versions that are converted to and from Version.
	Spokes []string
	// DefaultingPath and ValidationPath replace the default paths of the webhooks.
	DefaultingPath, ValidationPath string
}

// ResolveWebhook returns the resource of the options, as it will be recorded in PROJECT: the new webhooks are added to the existing
// ones. The findings are all problems of the options.
func ResolveWebhook(c *Config, o WebhookOptions) (Resource, diag.Findings) {
	r, findings := webhookResource(c, o)
	resolved := len(findings) == 0
	findings = append(findings, webhookKinds(o)...)
	findings = append(findings, checkWebhookPath("--defaulting-path", o.DefaultingPath, "--defaulting", o.Defaulting)...)
	findings = append(findings, checkWebhookPath("--validation-path", o.ValidationPath, "--programmatic-validation", o.Validation)...)
	if o.DefaultingPath != "" && o.DefaultingPath == o.ValidationPath {
		findings = append(findings, one("--validation-path", o.ValidationPath, "is also the path of the defaulting webhook", "")...)
	}
	if !resolved {
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

// MissingWebhooks returns the webhooks that can be added to a resource. Conversion is for kinds of the project with several versions.
func (c *Config) MissingWebhooks(r Resource) Webhooks {
	var has Webhooks
	if r.Webhooks != nil {
		has = *r.Webhooks
	}
	missing := Webhooks{Defaulting: !has.Defaulting, Validation: !has.Validation}
	if others := c.OtherVersions(r.GVK); c.Owns(r) && !slices.ContainsFunc(others, func(other Resource) bool { return other.Webhooks != nil && other.Webhooks.Conversion }) {
		for _, other := range others {
			if !slices.Contains(has.Spoke, other.Version) {
				missing.Conversion, missing.Spoke = true, append(missing.Spoke, other.Version)
			}
		}
	}
	return missing
}

// webhookResource returns the API of the webhooks: of the project, of Kubernetes or of another module.
func webhookResource(c *Config, o WebhookOptions) (Resource, diag.Findings) {
	r, findings := resolveOrigin(c, o.ResourceOptions)
	for i := range findings {
		if strings.HasPrefix(findings[i].Problem, "the project has no API") {
			findings[i].Problem = fmt.Sprintf("the project has no API %s; create it with 'operon create api', or pass the import path of its Go types with --external-api-path", r.GVK)
			if o.Group == "" {
				findings[i] = diag.Finding{Field: "--group", Problem: "must be the group of the API", Suggestion: groupWith(c, o.Kind)}
			}
		}
		findings[i].Problem = strings.TrimSuffix(findings[i].Problem, ", or pass --resource=false")
	}
	if len(findings) == 0 && c.IsChart(r) {
		findings = append(findings, one("--kind", o.Kind, fmt.Sprintf("the objects of %s are releases of a chart, without Go types; "+
			"validate their values with values.schema.json of the chart, from which the schema of the CRD is derived", r.GVK), "")...)
	} else if len(findings) == 0 && r.Path == "" {
		findings = append(findings, one("--kind", o.Kind,
			fmt.Sprintf("the project has no Go types of %s; create them with 'operon create api --resource', or pass their import path with --external-api-path", r.GVK), "")...)
	}
	if o.Plural != "" {
		findings = append(findings, CheckPlural(o.Plural)...)
		if _, ok := c.Resource(r.GVK); ok && r.Plural != o.Plural && len(findings) == 0 {
			findings = append(findings, one("--plural", o.Plural, "the kind has another plural in PROJECT", r.Plural)...)
		}
		r.Plural = o.Plural
	}
	return r, findings
}

// groupWith returns a group of the project that has a kind, or "".
func groupWith(c *Config, kind string) string {
	for _, r := range c.Resources() {
		if r.Kind == kind {
			return r.Group
		}
	}
	return ""
}

// webhookKinds validates which webhooks the options select.
func webhookKinds(o WebhookOptions) diag.Findings {
	var findings diag.Findings
	if len(o.Spokes) > 0 && !o.Conversion {
		findings = append(findings, one("--spoke", strings.Join(o.Spokes, ","), "is for conversion webhooks; pass --conversion too", "")...)
	} else if !o.Defaulting && !o.Validation && !o.Conversion {
		findings = append(findings, one("--defaulting", "false",
			"pass one or more of --defaulting, --programmatic-validation and --conversion", "")...)
	}
	return findings
}

// webhookPath matches the paths that controller-runtime accepts, except the root.
var webhookPath = lazyregexp.New(`^(/[a-zA-Z0-9-_]+)+$`)

// checkWebhookPath validates the path of a webhook, which kindFlag selects.
func checkWebhookPath(flag, p, kindFlag string, kind bool) diag.Findings {
	suggestion := "/" + strings.Trim(regexp.MustCompile(`[^a-zA-Z0-9-_/]+|//+`).ReplaceAllString(p, "-"), "/-")
	if !webhookPath.MatchString(suggestion) {
		suggestion = ""
	}
	switch {
	case p == "":
		return nil
	case !kind:
		return one(flag, p, "requires "+kindFlag, "")
	case !strings.HasPrefix(p, "/"):
		return one(flag, p, "must start with a slash", suggestion)
	case !webhookPath.MatchString(p):
		return one(flag, p, "must consist of parts such as /mutate-app: a slash, then letters, digits, '-' and '_'", suggestion)
	case p == "/convert":
		return one(flag, p, "is the path of conversion webhooks", "")
	}
	return nil
}

// checkSpokes validates the versions of a conversion webhook.
func checkSpokes(c *Config, r Resource, o WebhookOptions) diag.Findings {
	if r.Core || r.External {
		return one("--conversion", "true", "is supported only for kinds of the project, not for "+r.GVK.String(), "")
	}
	var others []string
	for _, other := range c.Resources() {
		if other.Group != r.Group || other.Domain != r.Domain || other.Kind != r.Kind || other.Version == r.Version {
			continue
		}
		if other.Webhooks != nil && other.Webhooks.Conversion {
			return one("--version", o.Version, fmt.Sprintf("version %s is already the hub of the kind", other.Version), other.Version)
		}
		if other.HasAPI() {
			others = append(others, other.Version)
		}
	}
	if len(others) == 0 {
		return one("--conversion", "true", fmt.Sprintf("%s has only one version; create another one with 'operon create api' first", r.Kind), "")
	}
	if len(o.Spokes) == 0 {
		return one("--spoke", "", fmt.Sprintf("is required: the versions to convert to and from %s", r.Version), strings.Join(others, ","))
	}
	var findings diag.Findings
	for i, spoke := range o.Spokes {
		near, _ := diag.Nearest(spoke, others)
		switch {
		case spoke == "":
			findings = append(findings, one("--spoke", spoke, "must not contain an empty version", strings.Join(others, ","))...)
		case spoke == r.Version:
			findings = append(findings, one("--spoke", spoke, "is the hub, the value of --version; spokes are the other versions", strings.Join(others, ","))...)
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

// webhookCollisions reports webhooks that already exist, and conflicts with files and paths of others.
func webhookCollisions(c *Config, r Resource, o WebhookOptions) diag.Findings {
	var findings diag.Findings
	existing := Webhooks{}
	if r.Webhooks != nil {
		existing = *r.Webhooks
	}
	checkNew := func(flag string, selected, exists bool) {
		if selected && exists && !o.Force {
			findings = append(findings, one(flag, "true", fmt.Sprintf("the webhook of %s already exists; omit the flag, or pass --force to overwrite it", r.GVK), "")...)
		}
	}
	checkNew("--defaulting", o.Defaulting, existing.Defaulting)
	checkNew("--programmatic-validation", o.Validation, existing.Validation)
	isNew := func(spoke string) bool { return !slices.Contains(existing.Spoke, spoke) }
	checkNew("--conversion", o.Conversion, existing.Conversion && !slices.ContainsFunc(o.Spokes, isNew))
	for _, other := range c.Resources() {
		if other.GVK == r.GVK || other.Webhooks == nil {
			continue
		}
		samePackage := !c.MultiGroup() || other.Group == r.Group
		if samePackage && other.Version == r.Version && strings.EqualFold(other.Kind, r.Kind) {
			findings = append(findings, one("--kind", o.Kind, fmt.Sprintf("the webhooks of %s have the same file; run 'operon edit --multigroup' for separate directories", other.GVK), "")...)
		}
		findings = append(findings, pathCollisions("--defaulting-path", o.DefaultingPath, other)...)
		findings = append(findings, pathCollisions("--validation-path", o.ValidationPath, other)...)
	}
	if o.DefaultingPath != "" && !o.Validation && o.DefaultingPath == existing.ValidationPath {
		findings = append(findings, one("--defaulting-path", o.DefaultingPath, "is already the path of the validation webhook", "")...)
	}
	if o.ValidationPath != "" && !o.Defaulting && o.ValidationPath == existing.DefaultingPath {
		findings = append(findings, one("--validation-path", o.ValidationPath, "is already the path of the defaulting webhook", "")...)
	}
	return findings
}

// pathCollisions reports a path of a webhook that another resource uses.
func pathCollisions(flag, p string, other Resource) diag.Findings {
	if p == "" {
		return nil
	}
	w := other.Webhooks
	if w.Defaulting && p == other.DefaultingPath() || w.Validation && p == other.ValidationPath() {
		return one(flag, p, fmt.Sprintf("is already the path of a webhook of %s", other.GVK), "")
	}
	return nil
}

// DefaultingPath returns the path of the defaulting webhook.
func (r Resource) DefaultingPath() string {
	if r.Webhooks != nil && r.Webhooks.DefaultingPath != "" {
		return r.Webhooks.DefaultingPath
	}
	return r.webhookPath("/mutate-")
}

// ValidationPath returns the path of the validation webhook.
func (r Resource) ValidationPath() string {
	if r.Webhooks != nil && r.Webhooks.ValidationPath != "" {
		return r.Webhooks.ValidationPath
	}
	return r.webhookPath("/validate-")
}

// webhookPath returns the default path of a webhook in controller-runtime.
func (r Resource) webhookPath(prefix string) string {
	return prefix + strings.ReplaceAll(r.APIGroup(), ".", "-") + "-" + r.Version + "-" + strings.ToLower(r.Kind)
}

// APIGroup returns the API group, "" for the legacy core group.
func (r Resource) APIGroup() string {
	if r.Core && r.QualifiedGroup() == "core" {
		return ""
	}
	return r.QualifiedGroup()
}
