package permit

import (
	"cmp"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/rbac"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A marker is an RBAC marker in a file.
type marker struct {
	codegen.RuleMarker
	file *gosource.File
}

// markersOf returns the RBAC markers of the files that roles are generated from, without generated files.
func markersOf(m *gosource.Module) (list []marker) {
	for _, name := range m.Names() {
		f := m.Files[name]
		if f.IsTest() || !f.IsBuilt() || ast.IsGenerated(f.AST) {
			continue
		}
		for _, found := range codegen.RuleMarkers(f) {
			list = append(list, marker{found, f})
		}
	}
	return list
}

// rule returns the rule that is generated from the marker.
func (m marker) rule() rbac.Rule {
	groups := slices.Clone(m.Groups)
	for i, group := range groups {
		if group == coreGroup {
			groups[i] = ""
		}
	}
	return rbac.Rule{APIGroups: groups, Resources: m.Resources, ResourceNames: m.ResourceNames, NonResourceURLs: m.URLs, Verbs: m.Verbs}
}

// with returns the text of a marker with another rule, for the same role. If only the verbs differ, the rest stays as it is written.
func (m marker) with(rule rbac.Rule) string {
	own := m.rule()
	own.Verbs = rule.Verbs
	if own.Equal(rule) {
		before, after, found := strings.Cut(m.text(), ",verbs=")
		_, rest, more := strings.Cut(after, ",")
		text := before + ",verbs=" + strings.Join(rule.Verbs, ";")
		if more {
			text += "," + rest
		}
		if parsed, ok := codegen.ParseRuleMarker(text); found && ok && (marker{RuleMarker: parsed}).rule().Equal(rule) {
			return text
		}
	}
	if slices.Contains(m.Groups, coreGroup) {
		rule.APIGroups = slices.Clone(rule.APIGroups)
		if i := slices.Index(rule.APIGroups, ""); i >= 0 {
			rule.APIGroups[i] = coreGroup
		}
	}
	return textOf(rule, m.Namespace, m.RoleName)
}

// coreGroup is another name of the group "" in markers.
const coreGroup = "core"

// text returns the marker as it is written, from its plus sign.
func (m marker) text() string { return string(m.file.Text[m.From:m.To]) }

func (m marker) position() diag.Position {
	return diag.Position{File: m.file.Name, Line: 1 + strings.Count(string(m.file.Text[:m.From]), "\n")}
}

// line returns the offsets of the line of the marker, with its end.
func (m marker) line() (from, to int) {
	text := string(m.file.Text)
	from = strings.LastIndexByte(text[:m.From], '\n') + 1
	if end := strings.IndexByte(text[m.To:], '\n'); end >= 0 {
		return from, m.To + end + 1
	}
	return from, len(text)
}

// replace returns the edit that replaces the marker by others, each in a line of its own. Without any, the line goes.
func (m marker) replace(texts []string) textdiff.Edit {
	from, to := m.line()
	if len(texts) == 0 {
		return textdiff.Edit{From: from, To: to}
	}
	return textdiff.Edit{From: m.From, To: m.To, Text: strings.Join(texts, m.separator())}
}

// below returns the edit that adds another marker below this one.
func (m marker) below(text string) textdiff.Edit {
	return textdiff.Edit{From: m.To, To: m.To, Text: m.separator() + text}
}

// separator returns what is between markers of successive lines: the end of the line, and what is before the plus sign.
func (m marker) separator() string {
	from, to := m.line()
	ending := "\n"
	if strings.HasSuffix(string(m.file.Text[:to]), "\r\n") {
		ending = "\r\n"
	}
	return ending + string(m.file.Text[from:m.From])
}

// textOf returns the text of a marker for a rule. The namespace and the name of the role may be empty.
func textOf(rule rbac.Rule, namespace, roleName string) string {
	var fields []string
	for _, field := range []struct {
		name  string
		items []string
	}{
		{"groups", rule.APIGroups}, {"resources", rule.Resources}, {"resourceNames", rule.ResourceNames}, {"urls", rule.NonResourceURLs}, {"verbs", rule.Verbs},
		{"namespace", nonEmpty(namespace)}, {"roleName", nonEmpty(roleName)},
	} {
		quoted := make([]string, len(field.items))
		for i, item := range field.items {
			if quoted[i] = item; item == "" || strings.ContainsAny(item, ",;:{}\"`' ") {
				quoted[i] = strconv.Quote(item)
			}
		}
		if len(quoted) > 0 {
			fields = append(fields, field.name+"="+strings.Join(quoted, ";"))
		}
	}
	return "+kubebuilder:rbac:" + strings.Join(fields, ",")
}

func nonEmpty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// editMarkers edits the markers of a module.
func (p Plan) editMarkers(tree *worktree.Tree, module *gosource.Module, markers []marker) (changes []Change, err error) {
	rules := make([]rbac.Rule, len(markers))
	for i, m := range markers {
		rules[i] = m.rule()
	}
	place := placement{markers: markers, namespace: namespaceOf(markers)}
	replaced, rest := p.edits(rules, place.candidates)
	edits := map[*gosource.File][]textdiff.Edit{}
	for i, m := range markers {
		kept, ok := replaced[i]
		if !ok {
			continue
		}
		change := Change{Position: m.position(), Before: m.text()}
		for _, rule := range kept {
			change.After = append(change.After, m.with(rule))
		}
		edits[m.file] = append(edits[m.file], m.replace(change.After))
		changes = append(changes, change)
	}
	for _, r := range rest {
		after := place.of(r)
		text := textOf(r.Rule, place.scope(r), "")
		edits[after.file] = append(edits[after.file], after.below(text))
		changes = append(changes, Change{Position: after.position(), After: []string{text}})
	}
	for f, list := range edits {
		tree.WriteFile(f.Name, textdiff.Apply(f.Text, list), worktree.FileMode)
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return a.Position.Compare(b.Position) })
	return changes, nil
}

// A placement decides where new markers are.
type placement struct {
	markers []marker
	// namespace is that of all roles, or "" if there is a ClusterRole.
	namespace string
}

// namespaceOf returns the namespace of all markers without the name of a role, or "" if they have several, or one has none.
func namespaceOf(markers []marker) (namespace string) {
	for i, m := range slices.DeleteFunc(slices.Clone(markers), func(m marker) bool { return m.RoleName != "" }) {
		if i > 0 && m.Namespace != namespace {
			return ""
		}
		namespace = m.Namespace
	}
	return namespace
}

// scope returns the namespace of the marker for a missing rule.
func (p placement) scope(m missing) string {
	if m.wholeCluster {
		return ""
	}
	return p.namespace
}

// candidates returns the indexes of the markers that a missing rule can extend, beginning with those in the file that makes the request.
func (p placement) candidates(m missing) []int {
	all := slices.DeleteFunc(indexes(p.markers), func(i int) bool { return p.markers[i].RoleName != "" || p.markers[i].Namespace != p.scope(m) })
	slices.SortStableFunc(all, func(i, j int) int { return cmp.Compare(p.distance(i, m), p.distance(j, m)) })
	return all
}

// distance says how far a marker is from the request for which a rule is missing.
func (p placement) distance(i int, m missing) int {
	switch at := p.markers[i].file; {
	case at.Name == m.at.File:
		return 0
	case m.at.File != "" && at.Dir() == path.Dir(m.at.File):
		return 1
	case slices.ContainsFunc(p.markers[i].Groups, func(group string) bool { return slices.Contains(m.APIGroups, group) }):
		return 2
	}
	return 3
}

// of returns the marker below which the one for a missing rule is: the last one of the nearest file.
func (p placement) of(m missing) marker {
	all := indexes(p.markers)
	slices.SortStableFunc(all, func(i, j int) int { return cmp.Compare(p.distance(i, m), p.distance(j, m)) })
	nearest := p.markers[all[0]]
	for _, other := range p.markers {
		if other.file == nearest.file {
			nearest = other
		}
	}
	return nearest
}
