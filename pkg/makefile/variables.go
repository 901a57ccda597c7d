package makefile

import (
	"slices"
	"strings"
)

// A variable is a variable of make.
type variable struct {
	value string
	// recursive variables are expanded when they are used.
	recursive bool
	// origin is the result of $(origin NAME).
	origin string
}

// assign sets a variable in a scope. A value of define is appended as a line.
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

// lookup returns a variable, or nil if it is not defined.
func (m *Makefile) lookup(name string) *variable {
	for _, scope := range slices.Backward(m.scopes) {
		if v := scope[name]; v != nil {
			return v
		}
	}
	return m.variables[name]
}

// variable returns the value of a variable.
func (m *Makefile) variable(name string) string {
	v := m.lookup(name)
	if v == nil {
		return ""
	}
	if !v.recursive {
		return v.value
	}
	return m.expand(v.value)
}
