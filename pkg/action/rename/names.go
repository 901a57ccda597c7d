package rename

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
)

// APIOptions are the options of API.
type APIOptions struct {
	// From has the current names, To the new ones. Empty names in From are completed if the project has only one; empty names
	// in To do not change.
	From, To project.GVK
	// Plural is the plural of the new kind; empty means the regular one.
	Plural string
}

// renamedAPIs are the resources of a project whose names change.
type renamedAPIs struct {
	before, after []project.Resource
	// domain is the new domain of the project, or empty.
	domain string
}

// resolve validates the options and returns the resources that they rename.
func (o APIOptions) resolve(config *project.Config) (renamedAPIs, error) {
	if findings := o.checkNames(config); len(findings) > 0 {
		return renamedAPIs{}, findings
	}
	from, findings := o.complete(config)
	if len(findings) > 0 {
		return renamedAPIs{}, findings
	}
	o.From = from
	findings = o.checkScope(config)
	out := renamedAPIs{domain: o.To.Domain}
	for _, r := range config.Resources() {
		if after, ok := o.renamed(config, r); ok {
			out.before, out.after = append(out.before, r), append(out.after, after)
		}
	}
	findings = append(findings, checkDirectories(config, out)...)
	if len(findings) > 0 {
		return out, findings
	}
	renamed, err := config.Copy()
	if err != nil {
		return out, err
	}
	if err := out.record(renamed); err != nil {
		return out, err
	}
	return out, project.CheckRenamed(renamed, out.after).Err()
}

// checkNames validates the new names independently of the APIs of the project.
func (o APIOptions) checkNames(config *project.Config) diag.Findings {
	var findings diag.Findings
	domain := config.Domain()
	if o.To.Domain != "" {
		domain = o.To.Domain
		findings = append(findings, project.CheckDomain(o.To.Domain)...)
	}
	if o.To.Group != "" {
		findings = append(findings, project.CheckGroup(o.To.Group, domain)...)
	}
	if o.To.Version != "" {
		findings = append(findings, project.CheckVersion(o.To.Version)...)
	}
	if o.To.Kind != "" {
		findings = append(findings, project.CheckKind(o.To.Kind)...)
	}
	if o.Plural != "" {
		findings = append(findings, project.CheckPlural(o.Plural)...)
	}
	for i := range findings {
		findings[i].Field = "--to-" + strings.TrimPrefix(findings[i].Field, "--")
	}
	if o.From.Domain != "" && o.From.Domain != config.Domain() {
		findings = append(findings, diag.Finding{Field: "--domain", Value: o.From.Domain,
			Problem: fmt.Sprintf("is not the project's domain, %s; pass the new one with --to-domain", config.Domain())})
	}
	return findings
}

// complete returns the current names, completed if the project has only one.
func (o APIOptions) complete(config *project.Config) (project.GVK, diag.Findings) {
	from := o.From
	from.Domain = config.Domain()
	var own, all []project.Resource
	for _, r := range config.Resources() {
		if (from.Group == "" || r.Group == from.Group) && (from.Version == "" || r.Version == from.Version) && (from.Kind == "" || r.Kind == from.Kind) {
			all = append(all, r)
			if config.Owns(r) {
				own = append(own, r)
			}
		}
	}
	if len(own) == 0 && len(all) > 0 {
		r := all[0]
		if config.IsChart(r) {
			return from, diag.Findings{{Field: "--kind", Value: from.Kind,
				Problem: fmt.Sprintf("the objects of %s are releases of a chart, and their kind cannot be renamed; delete the API and create it again", r.GVK)}}
		}
		return from, diag.Findings{{Field: "--kind", Value: from.Kind,
			Problem: fmt.Sprintf("%s is an API of Kubernetes or of another module, and cannot be renamed", r.GVK)}}
	}
	if len(own) == 0 && (o.To.Domain == "" || o.From.Group+o.From.Version+o.From.Kind != "") {
		return from, action.MissingAPI(config, from)
	}
	var findings diag.Findings
	for _, q := range []struct {
		flag   string
		value  *string
		needed bool
		of     func(project.Resource) string
	}{
		{"--group", &from.Group, o.To.Group != "" || o.To.Version != "" || o.To.Kind != "" || o.Plural != "", func(r project.Resource) string { return r.Group }},
		{"--version", &from.Version, o.To.Version != "", func(r project.Resource) string { return r.Version }},
		{"--kind", &from.Kind, o.To.Kind != "" || o.Plural != "", func(r project.Resource) string { return r.Kind }},
	} {
		var values []string
		for _, r := range own {
			values = append(values, q.of(r))
		}
		slices.Sort(values)
		values = slices.Compact(values)
		if *q.value == "" && q.needed && len(values) == 1 {
			*q.value = values[0]
		} else if *q.value == "" && q.needed && len(values) > 1 {
			findings = append(findings, diag.Finding{Field: q.flag,
				Problem: "is required: the project has " + strings.Join(values, ", ")})
		}
	}
	return from, findings
}

// checkScope returns findings for new names that do not change anything or that other resources would receive, too.
func (o APIOptions) checkScope(config *project.Config) diag.Findings {
	var findings diag.Findings
	add := func(field, value, format string, args ...any) {
		findings.Add(field, value, fmt.Sprintf(format, args...))
	}
	for _, q := range []struct{ flag, from, to string }{
		{"--to-group", o.From.Group, o.To.Group}, {"--to-version", o.From.Version, o.To.Version},
		{"--to-kind", o.From.Kind, o.To.Kind}, {"--to-domain", o.From.Domain, o.To.Domain},
	} {
		if q.to != "" && q.to == q.from {
			add(q.flag, q.to, "is already the name")
		}
	}
	for _, r := range config.Resources() {
		if !config.Owns(r) || r.Domain != config.Domain() {
			continue
		}
		otherKind := o.From.Kind != "" && r.Kind != o.From.Kind
		inGroup := r.Group == o.From.Group
		switch {
		case o.To.Domain != "" && (o.From.Group != "" && !inGroup || otherKind):
			add("--to-domain", o.To.Domain, "would also become the domain of %s, because the whole project has one domain; rename it by itself, without --group and --kind", r.GVK)
		case o.To.Group != "" && inGroup && otherKind:
			add("--to-group", o.To.Group, "would be the group of %s too, as all kinds of a group change together; rename it by itself, without --kind", r.GVK)
		case o.To.Version != "" && inGroup && r.Version == o.From.Version && otherKind:
			add("--to-version", o.To.Version, "would be the version of %s too, as all kinds of a version change together; rename it by itself, without --kind", r.GVK)
		}
	}
	return findings
}

// renamed returns a resource with its new names. It returns false if they do not change.
func (o APIOptions) renamed(config *project.Config, r project.Resource) (project.Resource, bool) {
	after := r
	if !config.Owns(r) {
		return r, false
	}
	inGroup := r.Group == o.From.Group && r.Domain == config.Domain()
	regular := r.Path == config.APIPath(r.Group, r.Version)
	if o.To.Domain != "" && r.Domain == config.Domain() {
		after.Domain = o.To.Domain
	}
	if o.To.Group != "" && inGroup {
		after.Group = o.To.Group
	}
	if o.To.Version != "" && inGroup {
		if r.Version == o.From.Version {
			after.Version = o.To.Version
		}
		if r.Webhooks != nil && slices.Contains(r.Webhooks.Spoke, o.From.Version) {
			webhooks := *r.Webhooks
			webhooks.Spoke = slices.Clone(webhooks.Spoke)
			webhooks.Spoke[slices.Index(webhooks.Spoke, o.From.Version)] = o.To.Version
			after.Webhooks = &webhooks
		}
	}
	if inGroup && r.Kind == o.From.Kind && o.To.Kind != "" {
		after.Kind, after.Plural = o.To.Kind, project.DefaultPlural(o.To.Kind)
		after.Controllers = slices.Clone(r.Controllers)
		for i, name := range after.Controllers {
			if name == r.FileStem() {
				after.Controllers[i] = after.FileStem()
			}
		}
	}
	if inGroup && r.Kind == o.From.Kind && o.Plural != "" {
		after.Plural = o.Plural
	}
	if regular {
		after.Path = config.APIPath(after.Group, after.Version)
	}
	return after, after.GVK != r.GVK || after.Plural != r.Plural || after.Webhooks != r.Webhooks
}

// checkDirectories returns findings for new names whose directories exist, and for directories that contain code of other
// resources, too.
func checkDirectories(config *project.Config, renamed renamedAPIs) diag.Findings {
	var findings diag.Findings
	for i, before := range renamed.before {
		after := renamed.after[i]
		field, value := "--to-version", after.Version
		if before.Version == after.Version {
			field, value = "--to-group", after.Group
		}
		for _, other := range config.Resources() {
			if slices.ContainsFunc(renamed.before, func(r project.Resource) bool { return r.GVK == other.GVK }) {
				continue
			}
			if other.Path == after.Path && before.Path != after.Path {
				findings = append(findings, diag.Finding{Field: field, Value: value,
					Problem: fmt.Sprintf("is taken: the types of %s are in that package", other.GVK)})
			}
			if dir, shared := sharedDirectory(config, before, after, other); shared {
				findings = append(findings, diag.Finding{Field: field, Value: value,
					Problem: fmt.Sprintf("%s would move, but contains code of %s, which is not renamed", dir, other.GVK)})
			}
		}
		if before.Path == after.Path && before.Path != "" && before.Path != config.APIPath(before.Group, before.Version) && (before.Group != after.Group || before.Version != after.Version) {
			findings = append(findings, diag.Finding{Field: field, Value: value,
				Problem: fmt.Sprintf("the types of %s are in %s, not where create api puts them; move them there first", before.GVK, before.Path)})
		}
	}
	return findings
}

// sharedDirectory returns a directory that moves with a resource and contains code of another one, too.
func sharedDirectory(config *project.Config, before, after, other project.Resource) (string, bool) {
	multi := config.MultiGroup()
	if multi && before.Group != after.Group && other.Group == before.Group && before.HasController() && other.HasController() {
		return before.ControllerDir(true), true
	}
	moves := before.Version != after.Version || multi && before.Group != after.Group
	if moves && before.Webhooks != nil && other.Webhooks != nil && other.Version == before.Version && (!multi || other.Group == before.Group) {
		return before.WebhookDir(multi), true
	}
	return "", false
}

// record sets the new names in PROJECT.
func (r renamedAPIs) record(config *project.Config) error {
	if r.domain != "" {
		if err := config.SetDomain(r.domain); err != nil {
			return err
		}
	}
	for i, before := range r.before {
		if _, taken := config.Resource(r.after[i].GVK); taken && before.GVK != r.after[i].GVK {
			return diag.Findings{{Field: "--to-kind", Value: r.after[i].Kind, Problem: fmt.Sprintf("the project has %s already", r.after[i].GVK)}}
		}
		if err := config.RenameResource(before.GVK, r.after[i]); err != nil {
			return err
		}
	}
	return nil
}
