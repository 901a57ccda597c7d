package makefile

import (
	"strings"
)

// expand replaces all references in text.
func (m *Makefile) expand(text string) string {
	if !strings.Contains(text, "$") {
		return text
	}
	if m.depth >= maxDepth || m.budget <= 0 {
		m.problem("variables are nested too deeply or refer to themselves")
		return ""
	}
	m.depth++
	defer func() { m.depth-- }()
	var b strings.Builder
	for i := 0; i < len(text) && m.budget > 0; {
		next := strings.IndexByte(text[i:], '$')
		if next < 0 || i+next == len(text)-1 {
			b.WriteString(text[i:])
			break
		}
		b.WriteString(text[i : i+next])
		i += next
		n := referenceLength(text[i:])
		b.WriteString(m.reference(text[i : i+n]))
		i += n
	}
	m.budget -= b.Len()
	return b.String()
}

// reference expands a reference, which starts with a dollar sign.
func (m *Makefile) reference(text string) string {
	if text[1] == '$' {
		return "$"
	}
	if text[1] != '(' && text[1] != '{' {
		return m.variable(text[1:])
	}
	if len(text) < 3 || closing(text[1:]) < 0 {
		m.problem("unterminated variable reference")
		return ""
	}
	inner := text[2 : len(text)-1]
	if name, rest, ok := cutFunction(inner); ok {
		return m.call(name, rest, text[1])
	}
	// A substitution reference: $(NAME:a=b).
	if colon := indexOutside(inner, ":"); colon > 0 {
		if from, to, ok := cutOutside(inner[colon+1:], "="); ok {
			from, to = m.expand(from), m.expand(to)
			if !strings.Contains(from, "%") {
				from, to = "%"+from, "%"+to
			}
			return patsubst(from, to, m.variable(m.expand(inner[:colon])))
		}
	}
	return m.variable(m.expand(inner))
}

// within calls expand with additional variables.
func (m *Makefile) within(scope map[string]*variable, expand func() string) string {
	m.scopes = append(m.scopes, scope)
	defer func() { m.scopes = m.scopes[:len(m.scopes)-1] }()
	return expand()
}
