package makefile

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Options describe where a makefile is evaluated.
type Options struct {
	// Dir is the absolute path of the directory that make is started in, the value of $(CURDIR). It is not accessed.
	Dir string
	// Read returns the content of a file by its slash-separated path relative to Dir. Required.
	Read func(name string) ([]byte, error)
	// Glob returns the files that match a pattern, relative to Dir; nil means that none do.
	Glob func(pattern string) []string
	// Shell returns what $(shell COMMAND) prints, or false where it is not known. Nil means that no command is known.
	Shell func(command string) (string, bool)
	// Variables are set before the makefile is read, as make does with the environment.
	Variables map[string]string
	// Overrides are variables of the command line, which assignments in the makefile do not change.
	Overrides map[string]string
}

// A Position is a line of a file.
type Position struct {
	// File is slash-separated and relative to the directory that make is started in.
	File string
	// Line counts from 1.
	Line int
}

// String returns the position as FILE:LINE.
func (p Position) String() string { return p.File + ":" + strconv.Itoa(p.Line) }

// A Problem is something that make would report or that could not be evaluated.
type Problem struct {
	Position
	Message string
}

// A Makefile is the result of evaluating a makefile and all that it includes.
type Makefile struct {
	// Problems are those found so far; Commands may add some.
	Problems []Problem

	opts      Options
	files     []string
	variables map[string]*variable
	// scopes hold the variables that are specific to a target, those of foreach and the arguments of call. The last one
	// wins.
	scopes  []map[string]*variable
	rules   []*rule
	named   map[string][]*rule // of explicit targets
	order   []string           // explicit targets as they appear
	at      Position
	shells  []string
	budget  int
	depth   int
	current *rule // that recipe lines belong to
}

type variable struct {
	value     string
	recursive bool
	origin    string
}

// rule is a rule, or several where targets share it.
type rule struct {
	targets, prerequisites, orderOnly []string
	pattern, double                   bool   // a pattern rule, a rule with two colons
	stemOf                            string // target pattern of a static pattern rule
	recipe                            []recipeLine
	hasRecipe                         bool
	assignments                       []assignment
}

type recipeLine struct {
	Position
	text string
}

type assignment struct {
	Position
	name, operator, value string
}

const (
	// maxDepth limits nested references and includes.
	maxDepth = 200
	// maxTargets limits the targets that one target depends on, which pattern rules may multiply without end.
	maxTargets = 5000
	// maxWork limits the bytes that all references together may expand to.
	maxWork = 4 << 20
)

// Evaluate reads a makefile, by its path relative to opts.Dir, and the makefiles that it includes, as make does before it
// runs anything. It fails only where the makefile itself cannot be read; other faults are in Makefile.Problems.
func Evaluate(name string, opts Options) (*Makefile, error) {
	m := &Makefile{opts: opts, variables: map[string]*variable{}, named: map[string][]*rule{}, budget: maxWork}
	for name, value := range opts.Variables {
		m.variables[name] = &variable{value: value, recursive: true, origin: "environment"}
	}
	for name, value := range map[string]string{"CURDIR": opts.Dir, "MAKE": "make", "MAKE_COMMAND": "make", "SHELL": "/bin/sh", ".SHELLFLAGS": "-c", "RM": "rm -f", "MAKE_VERSION": "4.4"} {
		m.variables[name] = &variable{value: value, origin: "default"}
	}
	for name, value := range opts.Overrides {
		m.variables[name] = &variable{value: value, recursive: true, origin: "command line"}
	}
	data, err := opts.Read(name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	m.read(name, data)
	return m, nil
}

// Targets returns the explicit targets in the order in which they appear, without special ones such as .PHONY.
func (m *Makefile) Targets() []string {
	return slices.DeleteFunc(slices.Clone(m.order), func(name string) bool {
		return strings.HasPrefix(name, ".") && !strings.Contains(name, "/")
	})
}

// Value returns the value of a variable, empty if there is none.
func (m *Makefile) Value(name string) string { return m.expand("$(" + name + ")") }

// HasTarget reports whether a rule names a target.
func (m *Makefile) HasTarget(name string) bool { return m.named[name] != nil }

func (m *Makefile) problem(format string, args ...any) {
	m.Problems = append(m.Problems, Problem{m.at, fmt.Sprintf(format, args...)})
}

// read evaluates the statements of a file.
func (m *Makefile) read(name string, data []byte) {
	if m.depth >= maxDepth {
		m.problem("include %s: too many nested makefiles", name)
		return
	}
	m.depth++
	defer func(at Position) { m.depth, m.at, m.current = m.depth-1, at, nil }(m.at)
	m.files = append(m.files, name)
	m.current = nil
	m.variables["MAKEFILE_LIST"] = &variable{value: " " + strings.Join(m.files, " "), origin: "file"}
	m.run(name, 0, Parse(data))
}

// condition is one level of nested conditionals.
type condition struct {
	active bool // the branch being read is taken
	done   bool // some branch was taken
	outer  bool // the conditional itself is in a branch that is taken
}

// run evaluates statements. Their line numbers count from offset.
func (m *Makefile) run(name string, offset int, statements []Statement) {
	var nested []condition
	for _, s := range statements {
		m.at = Position{name, offset + s.Line}
		active := len(nested) == 0 || nested[len(nested)-1].active
		if s.Kind == Conditional {
			nested = m.conditional(nested, s, active)
			continue
		}
		if active {
			m.statement(s)
		}
	}
	if len(nested) > 0 {
		m.problem("missing endif")
	}
}

func (m *Makefile) conditional(nested []condition, s Statement, active bool) []condition {
	switch s.Keyword {
	case "endif":
		if len(nested) == 0 {
			m.problem("endif without a conditional")
			return nested
		}
		return nested[:len(nested)-1]
	case "else":
		if len(nested) == 0 {
			m.problem("else without a conditional")
			return nested
		}
		c := &nested[len(nested)-1]
		c.active = c.outer && !c.done
		if keyword, rest := cutWord(s.Value); c.active && keyword != "" {
			if bare, _, ok := strings.Cut(keyword, "("); ok {
				keyword, rest = bare, strings.TrimPrefix(s.Value, bare)
			}
			c.active = m.holds(keyword, rest)
		}
		c.done = c.done || c.active
		return nested
	}
	c := condition{outer: active}
	c.active = active && m.holds(s.Keyword, s.Value)
	c.done = c.active
	return append(nested, c)
}

// holds evaluates the argument of ifeq and the like.
func (m *Makefile) holds(keyword, argument string) bool {
	switch keyword {
	case "ifdef", "ifndef":
		v := m.lookup(m.expand(strings.TrimSpace(argument)))
		return (v != nil && v.value != "") == (keyword == "ifdef")
	case "ifeq", "ifneq":
		a, b, ok := operands(strings.TrimSpace(argument))
		if !ok {
			m.problem("invalid syntax in conditional")
			return false
		}
		return (m.expand(a) == m.expand(b)) == (keyword == "ifeq")
	}
	m.problem("unknown conditional %s", keyword)
	return false
}

// operands divides "(a,b)" or two quoted texts.
func operands(text string) (a, b string, ok bool) {
	if strings.HasPrefix(text, "(") {
		end := closing(text)
		if end < 0 {
			return "", "", false
		}
		inner := text[1:end]
		comma := indexOutside(inner, ",")
		if comma < 0 {
			return "", "", false
		}
		return strings.TrimRight(inner[:comma], " \t"), strings.TrimLeft(inner[comma+1:], " \t"), true
	}
	if a, text, ok = quoted(text); !ok {
		return "", "", false
	}
	b, _, ok = quoted(strings.TrimSpace(text))
	return a, b, ok
}

func quoted(text string) (value, rest string, ok bool) {
	if text == "" || text[0] != '"' && text[0] != '\'' {
		return "", "", false
	}
	return strings.Cut(text[1:], text[:1])
}

func (m *Makefile) statement(s Statement) {
	switch s.Kind {
	case Assignment:
		m.current = nil
		m.assign(m.variables, s.Name, s.Operator, s.Value, slices.Contains(s.Modifiers, "define"))
	case Rule:
		m.rule(s)
	case Recipe:
		if m.current == nil {
			m.problem("recipe without a target")
			return
		}
		m.current.recipe = append(m.current.recipe, recipeLine{m.at, s.Value})
		m.current.hasRecipe = true
	case Include:
		m.current = nil
		for _, pattern := range strings.Fields(m.expand(s.Value)) {
			m.include(pattern, s.Keyword == "include")
		}
	case Directive:
		m.current = nil
		if s.Keyword == "undefine" {
			delete(m.variables, strings.TrimSpace(m.expand(s.Value)))
		}
	case Expression:
		if text := strings.TrimSpace(m.expand(s.Value)); text != "" {
			if colon := strings.Index(text, ":"); colon > 0 {
				m.rule(Parse([]byte(text))[0])
				return
			}
			m.problem("missing separator")
		}
	}
}

// include reads the files that a word of an include line names.
func (m *Makefile) include(pattern string, required bool) {
	names := []string{m.relative(pattern)}
	if strings.ContainsAny(pattern, "*?[") {
		names = nil
		if m.opts.Glob != nil {
			names = m.opts.Glob(m.relative(pattern))
		}
		slices.Sort(names)
	}
	for _, name := range names {
		data, err := m.opts.Read(name)
		if err == nil {
			m.read(name, data)
		} else if required {
			m.problem("include %s: cannot be read", m.Describe(name))
		}
	}
}

// relative returns a path relative to the directory that make is started in, if it is below that.
func (m *Makefile) relative(name string) string {
	if rest, ok := strings.CutPrefix(name, m.opts.Dir+"/"); ok && m.opts.Dir != "" {
		name = rest
	}
	return path.Clean(name)
}

// assign sets a variable in a scope.
func (m *Makefile) assign(scope map[string]*variable, name, operator, value string, define bool) {
	name = strings.TrimSpace(m.expand(name))
	if name == "" {
		m.problem("empty variable name")
		return
	}
	if _, ok := m.opts.Overrides[name]; ok {
		return
	}
	old := m.lookup(name)
	if own := scope[name]; own != nil {
		old = own
	}
	set := &variable{value: value, recursive: true, origin: "file"}
	switch operator {
	case ":=", "::=":
		set.value, set.recursive = m.expand(value), false
	case ":::=":
		set.value = strings.ReplaceAll(m.expand(value), "$", "$$")
	case "?=":
		if old != nil {
			return
		}
	case "!=":
		set.value, set.recursive = m.shell(m.expand(value)), false
	case "+=":
		if old != nil {
			set.recursive = old.recursive
			if !old.recursive {
				value = m.expand(value)
			}
			separator := " "
			if define {
				separator = "\n"
			}
			set.value = old.value + separator + value
			if old.value == "" {
				set.value = value
			}
		}
	}
	scope[name] = set
}

// rule evaluates a rule line.
func (m *Makefile) rule(s Statement) {
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

// add adds a rule to those of its targets.
func (m *Makefile) add(r *rule) {
	r.pattern = strings.Contains(r.targets[0], "%")
	m.rules = append(m.rules, r)
	if r.pattern {
		return
	}
	for _, target := range r.targets {
		if m.named[target] == nil {
			m.order = append(m.order, target)
		}
		m.named[target] = append(m.named[target], r)
	}
}
