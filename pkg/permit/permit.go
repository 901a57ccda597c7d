// Package permit corrects what grants an operator its permissions: the RBAC markers in its Go code, or the rules in the file with its role.
//
// A Plan adds what a run showed to be missing, or narrows rules to what was used. It decides about single markers and rules, and so
// Apply can change what isn't bound to the operator. Whether its permissions are then right, only its manifests show:
// see the method Under of stage.Grants.
package permit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/rbac"
	"github.com/operon-sdk/operon/pkg/stage"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A Plan is what to correct.
type Plan struct {
	// Missing are the permissions to add.
	Missing []stage.Denial
	// Source returns where the code makes a request that was denied, if it is known. It may be nil.
	Source func(stage.Denial) diag.Position
	// Narrow returns what stays of a rule, and false if all of it does. It may be nil.
	Narrow func(rbac.Rule) ([]rbac.Rule, bool)
}

// A Change is a marker or a rule that was replaced, added or removed.
type Change struct {
	// Position is that of the former text, or of the one after which there is a new one.
	diag.Position
	// Before is empty if it was added.
	Before string
	After  []string
}

// String returns the change as one line.
func (c Change) String() string {
	after := strings.Join(c.After, " and ")
	switch {
	case c.Before == "":
		return fmt.Sprintf("%s: added %s", c.Position, after)
	case after == "":
		return fmt.Sprintf("%s: removed %s", c.Position, c.Before)
	}
	return fmt.Sprintf("%s: %s → %s", c.Position, c.Before, after)
}

// Apply edits the files of a project: the markers if its Go code has any, or else the rules of role.yaml, without the generated ones. The
// role must be generated again afterwards.
func (p Plan) Apply(tree *worktree.Tree) ([]Change, error) {
	if tree.Exists("go.mod") {
		module, err := gosource.ReadModule(tree)
		if err != nil {
			return nil, err
		}
		if markers := markersOf(module); len(markers) > 0 {
			return p.editMarkers(tree, module, markers)
		}
	}
	text, err := tree.ReadOptional(project.RoleFile)
	if err != nil || text == nil {
		return nil, err
	}
	return p.editRole(tree, text)
}

// editRole edits the rules of role.yaml.
func (p Plan) editRole(tree *worktree.Tree, text []byte) (changes []Change, err error) {
	edited, places, err := rbac.EditRole(project.RoleFile, text, func(rules []rbac.Rule) (map[int][]rbac.Rule, []rbac.Rule) {
		replaced, rest := p.edits(rules, func(missing) []int { return indexes(rules) })
		added := make([]rbac.Rule, len(rest))
		for i, m := range rest {
			added[i] = m.Rule
		}
		return replaced, added
	})
	if err != nil {
		return nil, err
	}
	for _, place := range places {
		changes = append(changes, Change(place))
	}
	tree.WriteFile(project.RoleFile, edited, worktree.FileMode)
	return changes, nil
}

// edits returns what replaces rules, by their indexes, and what no rule can be extended with. candidates returns the indexes of the rules
// that may be.
func (p Plan) edits(rules []rbac.Rule, candidates func(missing) []int) (replaced map[int][]rbac.Rule, rest []missing) {
	replaced = map[int][]rbac.Rule{}
	for i, rule := range rules {
		if p.Narrow == nil {
			break
		}
		if kept, ok := p.Narrow(rule); ok {
			replaced[i] = kept
		}
	}
	for _, m := range p.missing() {
		list := candidates(m)
		at := slices.IndexFunc(list, func(i int) bool { return replaced[i] == nil && isAbout(rules[i], m.Rule) })
		if at < 0 {
			rest = append(rest, m)
			continue
		}
		extended := rules[list[at]]
		extended.Verbs = union(extended.Verbs, m.Verbs)
		replaced[list[at]] = []rbac.Rule{extended}
	}
	return replaced, rest
}

// A missing rule has one resource or path. It is missing in the whole cluster, or in a namespace, and its position may be unknown.
type missing struct {
	rbac.Rule
	at           diag.Position
	wholeCluster bool
}

// missing returns a rule for each resource or path that permissions are missing for.
func (p Plan) missing() (list []missing) {
	for _, d := range p.Missing {
		m := missing{Rule: ruleOf(d.Permission()), wholeCluster: d.Namespace == ""}
		if p.Source != nil {
			m.at = p.Source(d)
		}
		i := slices.IndexFunc(list, func(known missing) bool { return isAbout(known.Rule, m.Rule) })
		if i < 0 {
			list = append(list, m)
			continue
		}
		known := &list[i]
		known.Verbs, known.wholeCluster = union(known.Verbs, m.Verbs), known.wholeCluster || m.wholeCluster
		if known.at.File == "" {
			known.at = m.at
		}
	}
	return list
}

// ruleOf returns the rule for a permission.
func ruleOf(p stage.Permission) rbac.Rule {
	if p.Path != "" {
		return rbac.Rule{NonResourceURLs: []string{p.Path}, Verbs: p.Verbs}
	}
	return rbac.Rule{APIGroups: []string{p.Group}, Resources: []string{p.Resource}, Verbs: p.Verbs}
}

// isAbout reports whether a rule is about the same resource or path as another one, and about nothing else.
func isAbout(r, one rbac.Rule) bool {
	return slices.Equal(r.APIGroups, one.APIGroups) && slices.Equal(r.Resources, one.Resources) && slices.Equal(r.NonResourceURLs, one.NonResourceURLs) &&
		len(r.ResourceNames) == 0
}

// union returns a list with those items of another one that it lacks.
func union(list, more []string) []string {
	list = slices.Clone(list)
	for _, item := range more {
		if !slices.Contains(list, item) {
			list = append(list, item)
		}
	}
	return list
}

func indexes[T any](list []T) (all []int) {
	for i := range list {
		all = append(all, i)
	}
	return all
}
