package makefile

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// Options describe where a makefile is evaluated.
type Options struct {
	// Dir is the absolute path of the directory that make is started in, the value of $(CURDIR). It is not accessed.
	Dir string
	// Read returns the content of a file by its slash-separated path relative to Dir. Required.
	Read func(name string) ([]byte, error)
	// Glob returns the files that match a pattern, relative to Dir. Nil means that no file matches.
	Glob func(pattern string) []string
	// Shell returns the output of $(shell COMMAND), or false if it is unresolved. Nil means that all commands are unresolved.
	Shell func(command string) (string, bool)
	// Variables are set before the makefile is read, like environment variables.
	Variables map[string]string
	// Overrides are variables of the command line, which assignments in the makefile do not change.
	Overrides map[string]string
}

// A Makefile is the result of evaluating a makefile and all that it includes.
type Makefile struct {
	// Problems are what make would report and what cannot be evaluated. Evaluate, Value and Commands add some.
	Problems diag.Findings

	opts      Options
	files     []string
	variables map[string]*variable
	// scopes contain target-specific variables, foreach variables and the arguments of call. The last scope takes precedence.
	scopes  []map[string]*variable
	rules   []*rule
	named   map[string][]*rule // of explicit targets
	order   []string           // explicit targets with rules, in order of appearance
	at      diag.Position
	shells  []string
	budget  int
	depth   int
	current *rule // that recipe lines belong to
}

const (
	// maxDepth limits nested references and includes.
	maxDepth = 200
	// maxTargets limits the targets that one target depends on: pattern rules can create infinitely many.
	maxTargets = 5000
	// maxWork limits the bytes that all references together may expand to.
	maxWork = 4 << 20
)

// Evaluate reads a makefile, by its path relative to opts.Dir, and the makefiles that it includes, as make does before it
// runs commands. It fails only if the makefile itself cannot be read. Other problems are in Makefile.Problems.
func Evaluate(name string, opts Options) (*Makefile, error) {
	m := &Makefile{opts: opts, variables: map[string]*variable{}, named: map[string][]*rule{}, budget: maxWork}
	for name, value := range opts.Variables {
		m.variables[name] = &variable{value: value, recursive: true, origin: "environment"}
	}
	for name, value := range map[string]string{
		"CURDIR": opts.Dir, "MAKE": "make", "MAKE_COMMAND": "make", "MAKE_VERSION": "4.4",
		"SHELL": "/bin/sh", ".SHELLFLAGS": "-c", "RM": "rm -f",
	} {
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

// Targets returns the explicit targets in order of appearance, without special ones such as .PHONY.
func (m *Makefile) Targets() []string {
	return slices.DeleteFunc(slices.Clone(m.order), func(name string) bool {
		return strings.HasPrefix(name, ".") && !strings.Contains(name, "/")
	})
}

// Value returns the value of a variable, or "" if it is not defined.
func (m *Makefile) Value(name string) string { return m.expand("$(" + name + ")") }

// HasTarget reports whether a rule has the target.
func (m *Makefile) HasTarget(name string) bool { return slices.Contains(m.order, name) }

// problem records a problem at the current line.
func (m *Makefile) problem(format string, args ...any) {
	m.Problems = append(m.Problems, diag.Finding{Position: m.at, Problem: fmt.Sprintf(format, args...)})
}

// read evaluates the statements of a file.
func (m *Makefile) read(name string, data []byte) {
	if m.depth >= maxDepth {
		m.problem("include %s: too many nested makefiles", name)
		return
	}
	m.depth++
	defer func(at diag.Position) { m.depth, m.at, m.current = m.depth-1, at, nil }(m.at)
	m.files = append(m.files, name)
	m.current = nil
	m.variables["MAKEFILE_LIST"] = &variable{value: " " + strings.Join(m.files, " "), origin: "file"}
	m.run(name, 0, parse(data))
}

// run evaluates statements. Their line numbers count from offset.
func (m *Makefile) run(name string, offset int, statements []statement) {
	var nested []condition
	for _, s := range statements {
		m.at = diag.Position{File: name, Line: offset + s.Line}
		active := len(nested) == 0 || nested[len(nested)-1].active
		if s.Kind == kindConditional {
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

// statement evaluates a statement that is not conditional.
func (m *Makefile) statement(s statement) {
	switch s.Kind {
	case kindAssignment:
		m.current = nil
		m.assign(m.variables, s.Name, s.Operator, s.Value, slices.Contains(s.Modifiers, "define"))
	case kindRule:
		m.rule(s)
	case kindRecipe:
		if m.current == nil {
			m.problem("recipe without a target")
			return
		}
		m.current.recipe = append(m.current.recipe, recipeLine{m.at, s.Value})
		m.current.hasRecipe = true
	case kindInclude:
		m.current = nil
		for _, pattern := range strings.Fields(m.expand(s.Value)) {
			m.include(pattern, s.Keyword == "include")
		}
	case kindDirective:
		m.current = nil
		if s.Keyword == "undefine" {
			delete(m.variables, strings.TrimSpace(m.expand(s.Value)))
		}
	case kindExpression:
		if text := strings.TrimSpace(m.expand(s.Value)); text != "" {
			if colon := strings.Index(text, ":"); colon > 0 {
				m.rule(parse([]byte(text))[0])
				return
			}
			m.problem("missing separator")
		}
	}
}

// include reads the files that match a word of an include line.
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
