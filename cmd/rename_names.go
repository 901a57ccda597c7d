package cmd

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
)

// renamedAPIs are the resources of a project that get other names.
type renamedAPIs struct {
	was, is []project.Resource
	// domain is the project's, empty where that stays.
	domain string
}

// resolve finds what the flags name in a project, and all that is wrong with them.
func (o renameAPIOptions) resolve(config *project.Config) (renamedAPIs, error) {
	if findings := o.checkNames(config); len(findings) > 0 {
		return renamedAPIs{}, findings
	}
	from, findings := o.complete(config)
	if len(findings) > 0 {
		return renamedAPIs{}, findings
	}
	o.from = from
	findings = o.checkScope(config)
	out := renamedAPIs{domain: o.to.Domain}
	for _, r := range config.Resources() {
		if is, ok := o.renamed(config, r); ok {
			out.was, out.is = append(out.was, r), append(out.is, is)
		}
	}
	findings = append(findings, checkFolders(config, out)...)
	if len(findings) > 0 {
		return out, findings
	}
	now, err := config.Copy()
	if err != nil {
		return out, err
	}
	if err := out.record(now); err != nil {
		return out, err
	}
	for _, is := range out.is {
		findings = append(findings, project.CheckRenamed(now, is)...)
	}
	return out, distinctFindings(findings).Err()
}

// checkNames validates the new names alone.
func (o renameAPIOptions) checkNames(config *project.Config) project.Findings {
	var findings project.Findings
	domain := config.Domain()
	if o.to.Domain != "" {
		domain = o.to.Domain
		findings = append(findings, project.CheckDomain(o.to.Domain)...)
	}
	if o.to.Group != "" {
		findings = append(findings, project.CheckGroup(o.to.Group, domain)...)
	}
	if o.to.Version != "" {
		findings = append(findings, project.CheckVersion(o.to.Version)...)
	}
	if o.to.Kind != "" {
		findings = append(findings, project.CheckKind(o.to.Kind)...)
	}
	if o.plural != "" {
		findings = append(findings, project.CheckPlural(o.plural)...)
	}
	for i := range findings {
		findings[i].Field = "--to-" + strings.TrimPrefix(findings[i].Field, "--")
	}
	if o.from.Domain != "" && o.from.Domain != config.Domain() {
		findings = append(findings, project.Finding{Field: "--domain", Value: o.from.Domain,
			Problem: fmt.Sprintf("is not the project's domain, %s; a new one goes into --to-domain", config.Domain())})
	}
	return findings
}

// complete completes the old names where the project leaves no choice.
func (o renameAPIOptions) complete(config *project.Config) (project.GVK, project.Findings) {
	from := o.from
	from.Domain = config.Domain()
	var own, all []project.Resource
	for _, r := range config.Resources() {
		if (from.Group == "" || r.Group == from.Group) && (from.Version == "" || r.Version == from.Version) && (from.Kind == "" || r.Kind == from.Kind) {
			all = append(all, r)
			if ownTypes(config, r) {
				own = append(own, r)
			}
		}
	}
	if len(own) == 0 && len(all) > 0 {
		r := all[0]
		return from, project.Findings{{Field: "--kind", Value: from.Kind,
			Problem: fmt.Sprintf("%s comes with Kubernetes or from another module, which names it", r.GVK)}}
	}
	if len(own) == 0 && (o.to.Domain == "" || o.from.Group+o.from.Version+o.from.Kind != "") {
		return from, missingAPI(config, from)
	}
	var findings project.Findings
	for _, q := range []struct {
		flag   string
		value  *string
		needed bool
		of     func(project.Resource) string
	}{
		{"--group", &from.Group, o.to.Group != "" || o.to.Version != "" || o.to.Kind != "" || o.plural != "", func(r project.Resource) string { return r.Group }},
		{"--version", &from.Version, o.to.Version != "", func(r project.Resource) string { return r.Version }},
		{"--kind", &from.Kind, o.to.Kind != "" || o.plural != "", func(r project.Resource) string { return r.Kind }},
	} {
		var values []string
		for _, r := range own {
			values = append(values, q.of(r))
		}
		values = uniqueSorted(values)
		if *q.value == "" && q.needed && len(values) == 1 {
			*q.value = values[0]
		} else if *q.value == "" && q.needed && len(values) > 1 {
			findings = append(findings, project.Finding{Field: q.flag,
				Problem: "is required: the project has " + strings.Join(values, ", ")})
		}
	}
	return from, findings
}

// ownTypes tells whether the project holds a resource's types.
func ownTypes(config *project.Config, r project.Resource) bool {
	return !r.Core && !r.External && strings.HasPrefix(r.Path, config.Repo()+"/")
}

// checkScope refuses to rename more than the flags name, and names that are there already.
func (o renameAPIOptions) checkScope(config *project.Config) project.Findings {
	var findings project.Findings
	add := func(field, value, format string, args ...any) {
		findings = append(findings, project.Finding{Field: field, Value: value, Problem: fmt.Sprintf(format, args...)})
	}
	for _, q := range []struct{ flag, from, to string }{
		{"--to-group", o.from.Group, o.to.Group}, {"--to-version", o.from.Version, o.to.Version},
		{"--to-kind", o.from.Kind, o.to.Kind}, {"--to-domain", o.from.Domain, o.to.Domain},
	} {
		if q.to != "" && q.to == q.from {
			add(q.flag, q.to, "is the name already")
		}
	}
	for _, r := range config.Resources() {
		if !ownTypes(config, r) || r.Domain != config.Domain() {
			continue
		}
		otherKind := o.from.Kind != "" && r.Kind != o.from.Kind
		inGroup := r.Group == o.from.Group
		switch {
		case o.to.Domain != "" && (o.from.Group != "" && !inGroup || otherKind):
			add("--to-domain", o.to.Domain, "would be the domain of %s too, as it is that of the whole project; rename it by itself, without --group and --kind", r.GVK)
		case o.to.Group != "" && inGroup && otherKind:
			add("--to-group", o.to.Group, "would be the group of %s too, as all kinds of a group change together; rename it by itself, without --kind", r.GVK)
		case o.to.Version != "" && inGroup && r.Version == o.from.Version && otherKind:
			add("--to-version", o.to.Version, "would be the version of %s too, as one package holds both; rename it by itself, without --kind", r.GVK)
		}
	}
	return findings
}

// renamed is a resource by its new names; it is not ok where it keeps all.
func (o renameAPIOptions) renamed(config *project.Config, r project.Resource) (project.Resource, bool) {
	is := r
	if !ownTypes(config, r) {
		return r, false
	}
	inGroup := r.Group == o.from.Group && r.Domain == config.Domain()
	usual := r.Path == config.APIPath(r.Group, r.Version)
	if o.to.Domain != "" && r.Domain == config.Domain() {
		is.Domain = o.to.Domain
	}
	if o.to.Group != "" && inGroup {
		is.Group = o.to.Group
	}
	if o.to.Version != "" && inGroup {
		if r.Version == o.from.Version {
			is.Version = o.to.Version
		}
		if r.Webhooks != nil && slices.Contains(r.Webhooks.Spoke, o.from.Version) {
			webhooks := *r.Webhooks
			webhooks.Spoke = slices.Clone(webhooks.Spoke)
			webhooks.Spoke[slices.Index(webhooks.Spoke, o.from.Version)] = o.to.Version
			is.Webhooks = &webhooks
		}
	}
	if inGroup && r.Kind == o.from.Kind && o.to.Kind != "" {
		is.Kind, is.Plural = o.to.Kind, project.DefaultPlural(o.to.Kind)
		is.Controllers = slices.Clone(r.Controllers)
		for i, name := range is.Controllers {
			if name == r.FileStem() {
				is.Controllers[i] = is.FileStem()
			}
		}
	}
	if inGroup && r.Kind == o.from.Kind && o.plural != "" {
		is.Plural = o.plural
	}
	if usual {
		is.Path = config.APIPath(is.Group, is.Version)
	}
	return is, is.GVK != r.GVK || is.Plural != r.Plural || is.Webhooks != r.Webhooks
}

// checkFolders refuses names whose folders are taken, and folders that hold something of others too.
func checkFolders(config *project.Config, renamed renamedAPIs) project.Findings {
	var findings project.Findings
	for i, was := range renamed.was {
		is := renamed.is[i]
		field, value := "--to-version", is.Version
		if was.Version == is.Version {
			field, value = "--to-group", is.Group
		}
		for _, other := range config.Resources() {
			if slices.ContainsFunc(renamed.was, func(r project.Resource) bool { return r.GVK == other.GVK }) {
				continue
			}
			if other.Path == is.Path && was.Path != is.Path {
				findings = append(findings, project.Finding{Field: field, Value: value,
					Problem: fmt.Sprintf("is taken: the types of %s are in that package", other.GVK)})
			}
			if folder, shared := sharedFolder(config, was, is, other); shared {
				findings = append(findings, project.Finding{Field: field, Value: value,
					Problem: fmt.Sprintf("%s would move, and it holds code of %s, which keeps its name", folder, other.GVK)})
			}
		}
		if was.Path == is.Path && was.Path != config.APIPath(was.Group, was.Version) && (was.Group != is.Group || was.Version != is.Version) {
			findings = append(findings, project.Finding{Field: field, Value: value,
				Problem: fmt.Sprintf("the types of %s are in %s, not where create api puts them; move them there first", was.GVK, was.Path)})
		}
	}
	return findings
}

// sharedFolder is a folder that moves with a resource and is another one's as well.
func sharedFolder(config *project.Config, was, is, other project.Resource) (string, bool) {
	multi := config.MultiGroup()
	if multi && was.Group != is.Group && other.Group == was.Group && was.HasController() && other.HasController() {
		return path.Join("internal/controller", was.Group), true
	}
	moves := was.Version != is.Version || multi && was.Group != is.Group
	if moves && was.Webhooks != nil && other.Webhooks != nil && other.Version == was.Version && (!multi || other.Group == was.Group) {
		if !multi {
			return path.Join("internal/webhook", was.Version), true
		}
		return path.Join("internal/webhook", was.Group, was.Version), true
	}
	return "", false
}

// record gives PROJECT the new names.
func (r renamedAPIs) record(config *project.Config) error {
	if r.domain != "" {
		if err := config.SetDomain(r.domain); err != nil {
			return err
		}
	}
	for i, was := range r.was {
		if _, taken := config.Resource(r.is[i].GVK); taken && was.GVK != r.is[i].GVK {
			return project.Findings{{Field: "--to-kind", Value: r.is[i].Kind, Problem: fmt.Sprintf("the project has %s already", r.is[i].GVK)}}
		}
		if err := config.RenameResource(was.GVK, r.is[i]); err != nil {
			return err
		}
	}
	return nil
}

// distinctFindings leaves out what several versions of a kind have in common.
func distinctFindings(findings project.Findings) project.Findings {
	var out project.Findings
	for _, f := range findings {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}
