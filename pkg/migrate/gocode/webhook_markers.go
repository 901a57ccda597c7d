package gocode

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
)

// marker is a comment that makes the configuration of a webhook, with the remarks that stand in the same group.
type marker struct {
	file     *source
	group    *ast.CommentGroup
	line     *ast.Comment
	mutating bool
	// name replaces one that another webhook has too, which API servers refuse.
	name string
}

const webhookMarker = "+kubebuilder:webhook:"

// attribute gives each marker of the package to the kind whose webhook it is about.
func (pkg *apiPackage) attribute() {
	if len(pkg.webhooks) == 0 {
		return
	}
	for _, f := range pkg.files {
		for _, group := range f.AST.Comments {
			for _, c := range group.List {
				fields, ok := markerFields(c.Text)
				if !ok {
					continue
				}
				i := slices.IndexFunc(pkg.webhooks, func(h *webhook) bool {
					return slices.Contains(strings.Split(fields["resources"], ";"), h.resource.Plural) ||
						strings.HasSuffix(fields["path"], "-"+strings.ToLower(h.kind()))
				})
				if i < 0 {
					continue
				}
				h := pkg.webhooks[i]
				h.markers = append(h.markers, &marker{file: f, group: group, line: c, mutating: fields["mutating"] == "true"})
			}
		}
	}
}

// markerFields reads the fields of a webhook's marker.
func markerFields(comment string) (map[string]string, bool) {
	text, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(comment, "//")), webhookMarker)
	if !ok {
		return nil, false
	}
	fields := map[string]string{}
	for _, field := range splitFields(text) {
		key, value, _ := strings.Cut(field, "=")
		fields[strings.TrimSpace(key)] = strings.Trim(strings.TrimSpace(value), "\"`")
	}
	return fields, true
}

// splitFields splits at commas that are in no braces.
func splitFields(text string) []string {
	depth := 0
	return strings.FieldsFunc(text, func(c rune) bool {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		}
		return c == ',' && depth == 0
	})
}

// text is the marker as today's generator reads it: what that insists on and that was optional before is added, and
// versions of configurations that are no more go.
func (m *marker) text() string {
	fields, _ := markerFields(m.line.Text)
	start, list, _ := strings.Cut(strings.TrimRight(m.line.Text, " \t\r"), webhookMarker)
	parts := splitFields(list)
	if versions := strings.Split(strings.Trim(fields["webhookVersions"], "{}"), ";"); !slices.Contains(versions, "v1") {
		parts = slices.DeleteFunc(parts, func(part string) bool { return strings.HasPrefix(strings.TrimSpace(part), "webhookVersions=") })
	}
	for i, part := range parts {
		if m.name != "" && strings.HasPrefix(strings.TrimSpace(part), "name=") {
			parts[i] = "name=" + m.name
		}
	}
	for _, required := range []string{"sideEffects=None", "admissionReviewVersions=v1"} {
		if key, _, _ := strings.Cut(required, "="); fields[key] == "" {
			parts = append(parts, required)
		}
	}
	return start + webhookMarker + strings.Join(parts, ",")
}

// distinguish gives webhooks of several versions of a kind the names of today's scaffold where they share one.
func (w *Webhooks) distinguish() {
	taken := map[string]bool{}
	for _, pkg := range w.packages {
		for _, h := range pkg.webhooks {
			for _, m := range h.markers {
				fields, _ := markerFields(m.line.Text)
				if key := fields["mutating"] + " " + fields["name"]; !taken[key] {
					taken[key] = true
					continue
				}
				m.name = map[bool]string{true: "m", false: "v"}[m.mutating] + strings.ToLower(h.kind()) + "-" + h.resource.Version + ".kb.io"
			}
		}
	}
}

// deletes tells that the webhook is called for deletions too.
func (m *marker) deletes() bool {
	fields, _ := markerFields(m.line.Text)
	return slices.Contains(strings.Split(fields["verbs"], ";"), "delete")
}

// remarks are the lines around the marker that a person wrote, which go where it goes, unless they document a function
// or a type.
func (m *marker) remarks() []string {
	var lines []string
	for _, decl := range m.file.AST.Decls {
		if general, ok := decl.(*ast.GenDecl); gosource.Doc(decl) == m.group && (!ok || general.Tok != token.VAR) {
			return nil
		}
	}
	for _, c := range m.group.List {
		if _, ok := markerFields(c.Text); !ok && !scaffoldRemark(c.Text) {
			lines = append(lines, c.Text)
		}
	}
	return lines
}

// scaffoldRemark tells of the comments that scaffolds of before have above markers.
func scaffoldRemark(comment string) bool {
	text := strings.TrimSpace(strings.Trim(comment, "/"))
	for _, start := range []string{
		"TODO(user): EDIT THIS FILE!", "EDIT THIS FILE!", "TODO(user): change verbs to", "NOTE: The 'path' attribute must follow",
		"Modifying the path for an invalid path can", "SetupWebhookWithManager will setup the manager to manage the webhooks",
	} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return text == ""
}
