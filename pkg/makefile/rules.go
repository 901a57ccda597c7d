package makefile

import (
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A rule is a rule of one or more targets.
type rule struct {
	targets, prerequisites, orderOnly []string
	pattern, double                   bool   // a pattern rule, a rule with a double colon
	stemOf                            string // target pattern of a static pattern rule
	recipe                            []recipeLine
	hasRecipe                         bool
	assignments                       []assignment
}

type recipeLine struct {
	diag.Position
	text string
}

type assignment struct {
	diag.Position
	name, operator, value string
}

// rule evaluates a rule line.
func (m *Makefile) rule(s statement) {
	targets := strings.Fields(m.expand(s.Targets))
	if len(targets) == 0 {
		m.current = &rule{} // make ignores such a rule with its recipe
		return
	}
	if s.Operator != "" {
		m.current = nil
		for _, target := range targets {
			m.add(&rule{targets: []string{target}, assignments: []assignment{{m.at, s.Name, s.Operator, s.Value}}})
		}
		return
	}
	prerequisites := m.expand(s.Value)
	r := &rule{targets: targets, double: s.Separator == "::"}
	// In targets: target-pattern: prerequisite-patterns, each target matches the first pattern.
	if pattern, rest, ok := strings.Cut(prerequisites, ":"); ok && strings.Contains(pattern, "%") && !strings.Contains(targets[0], "%") {
		r.stemOf, prerequisites = strings.TrimSpace(pattern), rest
	}
	normal, orderOnly, _ := strings.Cut(prerequisites, "|")
	r.prerequisites, r.orderOnly = strings.Fields(normal), strings.Fields(orderOnly)
	if s.HasInline {
		r.recipe, r.hasRecipe = append(r.recipe, recipeLine{m.at, s.Inline}), true
	}
	m.add(r)
	m.current = r
}

// add adds a rule to the rules of its targets.
func (m *Makefile) add(r *rule) {
	r.pattern = strings.Contains(r.targets[0], "%")
	m.rules = append(m.rules, r)
	if r.pattern {
		return
	}
	for _, target := range r.targets {
		if r.assignments == nil && !m.HasTarget(target) {
			m.order = append(m.order, target)
		}
		m.named[target] = append(m.named[target], r)
	}
}

// automatic returns the automatic variables of a recipe. The stem is the part of the target that % matches, normal are the
// prerequisites that are not order-only.
func automatic(target, stem string, normal []string) map[string]*variable {
	var unique []string
	for _, name := range normal {
		if !slices.Contains(unique, name) {
			unique = append(unique, name)
		}
	}
	first := ""
	if len(normal) > 0 {
		first = normal[0]
	}
	values := map[string]string{
		"@": target, "<": first, "^": strings.Join(unique, " "), "+": strings.Join(normal, " "), "?": strings.Join(unique, " "), "*": stem,
	}
	scope := map[string]*variable{}
	for name, value := range values {
		scope[name] = &variable{value: value, origin: "automatic"}
		var dirs, files []string
		for _, word := range strings.Fields(value) {
			dirs, files = append(dirs, path.Dir(word)), append(files, path.Base(word))
		}
		scope[name+"D"] = &variable{value: strings.Join(dirs, " "), origin: "automatic"}
		scope[name+"F"] = &variable{value: strings.Join(files, " "), origin: "automatic"}
	}
	return scope
}
