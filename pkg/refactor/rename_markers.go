package refactor

import (
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
)

// renameMarker returns a marker, without its plus sign, with the new names.
func (x *renamer) renameMarker(text string) string {
	if group, ok := strings.CutPrefix(text, "groupName="); ok {
		for _, api := range x.APIs {
			if group == api[0].QualifiedGroup() {
				return "groupName=" + api[1].QualifiedGroup()
			}
		}
		return text
	}
	for _, name := range []string{"kubebuilder:rbac:", "kubebuilder:webhook:", "kubebuilder:resource:"} {
		if fields, ok := strings.CutPrefix(text, name); ok {
			return name + x.renameFields(name, strings.Split(fields, ","))
		}
	}
	return text
}

// renameFields returns the fields of a marker with the new names.
func (x *renamer) renameFields(marker string, list []string) string {
	value := func(key string) []string {
		for _, f := range list {
			if k, v, ok := strings.Cut(f, "="); ok && k == key {
				return strings.Split(v, ";")
			}
		}
		return nil
	}
	out := slices.Clone(list)
	set := func(key, to string) {
		for i, f := range out {
			if k, _, ok := strings.Cut(f, "="); ok && k == key {
				out[i] = key + "=" + to
			}
		}
	}
	if old := x.Project[0]; old != x.Project[1] && slices.Equal(value("namespace"), []string{project.ObjectNamespace(old)}) {
		set("namespace", project.ObjectNamespace(x.Project[1]))
	}
	if marker == "kubebuilder:resource:" {
		for _, api := range x.APIs {
			if slices.Equal(value("path"), []string{api[0].Plural}) {
				set("path", api[1].Plural)
			}
		}
		return strings.Join(out, ",")
	}
	groups, resources, versions := value("groups"), value("resources"), value("versions")
	oldGroups, oldResources := slices.Clone(groups), slices.Clone(resources)
	for _, api := range x.APIs {
		before, after := api[0], api[1]
		if !slices.Contains(oldGroups, before.QualifiedGroup()) {
			continue
		}
		groups = replaceName(groups, before.QualifiedGroup(), after.QualifiedGroup())
		resources = replaceName(resources, before.Plural, after.Plural)
		if !slices.Contains(oldResources, before.Plural) || !slices.Contains(value("versions"), before.Version) {
			continue
		}
		versions = replaceName(versions, before.Version, after.Version)
		for _, webhook := range []func(project.Resource) string{project.Resource.DefaultingPath, project.Resource.ValidationPath} {
			if slices.Equal(value("path"), []string{webhook(before)}) {
				set("path", webhook(after))
			}
		}
		for _, prefix := range []string{"m", "v"} {
			name := func(a project.Resource) string { return prefix + strings.ToLower(a.Kind) + "-" + a.Version + ".kb.io" }
			if slices.Equal(value("name"), []string{name(before)}) {
				set("name", name(after))
			}
		}
	}
	set("groups", strings.Join(groups, ";"))
	set("resources", strings.Join(resources, ";"))
	set("versions", strings.Join(versions, ";"))
	return strings.Join(out, ",")
}

// replaceName replaces a name in a list, also before a slash, as in the names of subresources.
func replaceName(list []string, old, now string) []string {
	out := slices.Clone(list)
	for i, s := range out {
		if rest, ok := strings.CutPrefix(s, old); ok && (rest == "" || rest[0] == '/') {
			out[i] = now + rest
		}
	}
	return out
}
