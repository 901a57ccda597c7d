package gocode

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
)

// A marker is the marker of a webhook configuration with the other comments of its group.
type marker struct {
	file     *source
	group    *ast.CommentGroup
	line     *ast.Comment
	mutating bool
	// name replaces a name that another webhook also has, which API servers refuse.
	name string
}

const webhookMarker = "+kubebuilder:webhook:"

// assignMarkers assigns each marker of the package to the kind of its webhook.
func (pkg *apiPackage) assignMarkers() {
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

// markerFields parses the fields of a webhook marker.
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

// splitFields splits a text at commas outside of braces.
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

// text returns the marker for the current generator: fields that are required now are added, and removed versions of
// configurations dropped.
func (m *marker) text() string {
	fields, _ := markerFields(m.line.Text)
	start, list, _ := strings.Cut(strings.TrimRight(m.line.Text, " \t\r"), webhookMarker)
	parts := splitFields(list)
	if versions := strings.Split(strings.Trim(fields["webhookVersions"], "{}"), ";"); !slices.Contains(versions, "v1") {
		parts = slices.DeleteFunc(parts, func(part string) bool {
			return strings.HasPrefix(strings.TrimSpace(part), "webhookVersions=")
		})
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

// distinguish renames webhooks of several versions of a kind with a common name as in the current scaffold.
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
				prefix := map[bool]string{true: "m", false: "v"}[m.mutating]
				m.name = prefix + strings.ToLower(h.kind()) + "-" + h.resource.Version + ".kb.io"
			}
		}
	}
}

// deletes reports whether the webhook is also called for deletions.
func (m *marker) deletes() bool {
	fields, _ := markerFields(m.line.Text)
	return slices.Contains(strings.Split(fields["verbs"], ";"), "delete")
}

// userComments returns the lines around the marker that the user wrote. They move with it, unless they document a
// function or type.
func (m *marker) userComments() []string {
	var lines []string
	for _, decl := range m.file.AST.Decls {
		if general, ok := decl.(*ast.GenDecl); gosource.Doc(decl) == m.group && (!ok || general.Tok != token.VAR) {
			return nil
		}
	}
	for _, c := range m.group.List {
		if _, ok := markerFields(c.Text); !ok && !isScaffoldRemark(c.Text) {
			lines = append(lines, c.Text)
		}
	}
	return lines
}

// isScaffoldRemark reports whether a comment is one of old scaffolds above markers.
func isScaffoldRemark(comment string) bool {
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
