package makefile

import (
	"path"
	"slices"
	"strings"
)

// A Command is a line of a recipe as the shell gets it.
type Command struct {
	Position
	// Target is the target whose recipe the line is part of.
	Target string
	// Text is the expanded line without the prefixes @, - and +. It may hold line ends.
	Text string
	// Shell is the program that runs it: the value of $(SHELL).
	Shell string
}

// Commands returns the commands that make runs for targets, in its order, as if no file were up to date: the recipes of
// prerequisites come first, and each recipe occurs once. A prerequisite without a rule is a file.
func (m *Makefile) Commands(targets ...string) []Command {
	var commands []Command
	done := map[string]bool{}
	for _, target := range targets {
		m.build(target, done, &commands)
	}
	return commands
}

// DependsOn reports whether making a target makes another one, or is the same.
func (m *Makefile) DependsOn(target, on string) bool {
	seen := map[string]bool{}
	var reach func(string, int) bool
	reach = func(name string, depth int) bool {
		if name == on {
			return true
		}
		if seen[name] || depth >= maxDepth || len(seen) >= maxTargets {
			return false
		}
		seen[name] = true
		prerequisites, _, _, _ := m.recipeOf(name)
		return slices.ContainsFunc(prerequisites, func(next string) bool { return reach(next, depth+1) })
	}
	return reach(target, 0)
}

// build appends the commands of a target and of its prerequisites.
func (m *Makefile) build(target string, done map[string]bool, commands *[]Command) {
	if done[target] || len(m.scopes) >= maxDepth || len(done) >= maxTargets {
		return
	}
	done[target] = true
	prerequisites, normal, found, assignments := m.recipeOf(target)
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
	for _, f := range found {
		m.within(automatic(target, f.stem, normal), func() string {
			m.recipe(target, f.rule, commands)
			return ""
		})
	}
}

// found is a rule that applies to a target, with what the percent sign of its pattern stands for.
type found struct {
	*rule
	stem string
}

// recipeOf collects what all rules say about a target: prerequisites in order, those that are not order-only, the rules
// with recipes, and the assignments.
func (m *Makefile) recipeOf(target string) (prerequisites, normal []string, rules []found, assignments []assignment) {
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
			rules = append(rules, found{r, stem})
		}
	}
	for _, r := range m.rules {
		if r.pattern {
			if _, ok := match(r.targets[0], target); ok {
				assignments = append(assignments, r.assignments...)
			}
		}
	}
	// The rule with the recipe comes first.
	own := slices.Clone(m.named[target])
	slices.SortStableFunc(own, func(a, b *rule) int {
		if a.hasRecipe == b.hasRecipe {
			return 0
		} else if a.hasRecipe {
			return -1
		}
		return 1
	})
	for _, r := range own {
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
		rules = rules[last:] // it overrides the others
	}
	return prerequisites, normal, rules, assignments
}

// automatic returns the automatic variables of a recipe.
func automatic(target, stem string, normal []string) map[string]*variable {
	unique := slices.Clone(normal)
	for i := 0; i < len(unique); {
		if slices.Contains(unique[:i], unique[i]) {
			unique = slices.Delete(unique, i, i+1)
		} else {
			i++
		}
	}
	first := ""
	if len(normal) > 0 {
		first = normal[0]
	}
	values := map[string]string{"@": target, "<": first, "^": strings.Join(unique, " "), "+": strings.Join(normal, " "), "?": strings.Join(unique, " "), "*": stem}
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

// recipe appends the commands of a rule's recipe.
func (m *Makefile) recipe(target string, r *rule, commands *[]Command) {
	shell := m.variable("SHELL")
	add := func(at Position, text string) {
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
		// A variable may hold several lines.
		for _, text := range splitLines(m.expand(line.text)) {
			add(line.Position, text)
		}
	}
}

// splitLines divides text at line ends that no backslash precedes.
func splitLines(text string) []string {
	var lines []string
	current := ""
	for _, line := range strings.Split(text, "\n") {
		current += line
		if isContinued(line) {
			current += "\n"
			continue
		}
		lines, current = append(lines, current), ""
	}
	if current != "" {
		lines = append(lines, current)
	}
	return lines
}
