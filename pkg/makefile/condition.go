package makefile

import "strings"

// A condition is one level of nested conditionals.
type condition struct {
	active bool // the current branch applies
	done   bool // a branch applied
	outer  bool // the conditional is in a branch that applies
}

// conditional evaluates a conditional line. active reports whether the line is in a branch that applies.
func (m *Makefile) conditional(nested []condition, s statement, active bool) []condition {
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

// holds reports whether the condition of ifeq, ifneq, ifdef or ifndef is true.
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

// operands splits "(a,b)" or two quoted strings.
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

// quoted splits text after the quoted string that it starts with.
func quoted(text string) (value, rest string, ok bool) {
	if text == "" || text[0] != '"' && text[0] != '\'' {
		return "", "", false
	}
	return strings.Cut(text[1:], text[:1])
}
