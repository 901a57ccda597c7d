package makefile

import (
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A Command is a line of a recipe as passed to the shell.
type Command struct {
	diag.Position
	// Target is the target whose recipe the line is part of.
	Target string
	// Text is the expanded line without the prefixes @, - and +. It may contain line breaks.
	Text string
	// Shell is the program that runs the command: the value of $(SHELL).
	Shell string
}

// Commands returns the commands that make runs for targets if no file is up to date, in the order of make: prerequisites
// first, and each recipe once. A prerequisite without a rule is a file.
func (m *Makefile) Commands(targets ...string) []Command {
	var commands []Command
	done := map[string]bool{}
	for _, target := range targets {
		m.build(target, done, &commands)
	}
	return commands
}

// DependsOn reports whether target is on or depends on it.
func (m *Makefile) DependsOn(target, on string) bool {
	visited := map[string]bool{}
	var reaches func(string, int) bool
	reaches = func(name string, depth int) bool {
		if name == on {
			return true
		}
		if visited[name] || depth >= maxDepth || len(visited) >= maxTargets {
			return false
		}
		visited[name] = true
		prerequisites, _, _, _ := m.recipeOf(name)
		return slices.ContainsFunc(prerequisites, func(next string) bool { return reaches(next, depth+1) })
	}
	return reaches(target, 0)
}

// build appends the commands of a target and of its prerequisites.
func (m *Makefile) build(target string, done map[string]bool, commands *[]Command) {
	if done[target] || len(m.scopes) >= maxDepth || len(done) >= maxTargets {
		return
	}
	done[target] = true
	prerequisites, normal, rules, assignments := m.recipeOf(target)
	scope := map[string]*variable{}
	m.scopes = append(m.scopes, scope)
	defer func() { m.scopes = m.scopes[:len(m.scopes)-1] }()
	for _, a := range assignments {
		m.at = a.Position
		m.assign(scope, a.name, a.operator, a.value, false)
	}
	for _, name := range prerequisites {
		m.build(name, done, commands)
	}
	for _, r := range rules {
		m.within(automatic(target, r.stem, normal), func() string {
			m.recipe(target, r.rule, commands)
			return ""
		})
	}
}

// A matchedRule is a rule that applies to a target, with the part of the target that % matches.
type matchedRule struct {
	*rule
	stem string
}

// recipeOf returns the prerequisites of a target in order, the ones that aren't order-only, the rules with recipes, and
// the target-specific assignments.
func (m *Makefile) recipeOf(target string) (prerequisites, normal []string, rules []matchedRule, assignments []assignment) {
	add := func(r *rule, stem string) {
		for i, names := range [][]string{r.prerequisites, r.orderOnly} {
			for _, name := range names {
				if stem != "" || r.stemOf != "" {
					name = strings.Replace(name, "%", stem, 1)
				}
				if !slices.Contains(prerequisites, name) {
					prerequisites = append(prerequisites, name)
				}
				if i == 0 {
					normal = append(normal, name)
				}
			}
		}
		if r.hasRecipe {
			rules = append(rules, matchedRule{r, stem})
		}
	}
	for _, r := range m.rules {
		if r.pattern {
			if _, ok := match(r.targets[0], target); ok {
				assignments = append(assignments, r.assignments...)
			}
		}
	}
	// The rule with the recipe is first.
	explicit := slices.Clone(m.named[target])
	slices.SortStableFunc(explicit, func(a, b *rule) int {
		if a.hasRecipe == b.hasRecipe {
			return 0
		} else if a.hasRecipe {
			return -1
		}
		return 1
	})
	for _, r := range explicit {
		stem := ""
		if r.stemOf != "" {
			stem, _ = match(r.stemOf, target)
		}
		add(r, stem)
		assignments = append(assignments, r.assignments...)
	}
	if len(rules) == 0 {
		for _, r := range m.rules {
			if !r.pattern || !r.hasRecipe {
				continue
			}
			matched := false
			for _, pattern := range r.targets {
				if stem, ok := match(pattern, target); ok && stem != "" {
					add(r, stem)
					matched = true
					break
				}
			}
			if matched {
				break
			}
		}
	}
	if last := len(rules) - 1; last > 0 && !rules[last].double {
		rules = rules[last:] // the last rule overrides the others
	}
	return prerequisites, normal, rules, assignments
}

// recipe appends the commands of a rule's recipe.
func (m *Makefile) recipe(target string, r *rule, commands *[]Command) {
	shell := m.variable("SHELL")
	add := func(at diag.Position, text string) {
		text = strings.TrimLeft(text, "@-+ \t")
		if strings.TrimSpace(text) != "" {
			*commands = append(*commands, Command{Position: at, Target: target, Text: text, Shell: shell})
		}
	}
	if m.HasTarget(".ONESHELL") && len(r.recipe) > 0 {
		var lines []string
		for _, line := range r.recipe {
			m.at = line.Position
			lines = append(lines, strings.TrimLeft(m.expand(line.text), "@-+ \t"))
		}
		add(r.recipe[0].Position, strings.Join(lines, "\n"))
		return
	}
	for _, line := range r.recipe {
		m.at = line.Position
		// A variable may contain several lines.
		for _, text := range splitLines(m.expand(line.text)) {
			add(line.Position, text)
		}
	}
}
