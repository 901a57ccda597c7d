package operatorchart

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A writer prints the tree of an object as a template.
type writer struct{ strings.Builder }

// line prints a line with an indentation.
func (w *writer) line(indent int, parts ...string) {
	w.WriteString(strings.Repeat(" ", indent))
	for _, part := range parts {
		w.WriteString(part)
	}
	w.WriteByte('\n')
}

// each prints entries with their conditions. An entry that depends on the opposite of the one before is its alternative.
func (w *writer) each(entries []entry, indent int, print func(e entry, given string)) {
	open := ""
	for _, e := range entries {
		given := e.condition()
		if e.lines != nil {
			given = e.given
		}
		if open != "" && (given == "not "+open || given == "not ("+open+")") {
			w.line(indent, "{{- else }}")
			open = given
			print(e, given)
			continue
		}
		if open != "" {
			w.line(indent, "{{- end }}")
		}
		if open = given; given != "" {
			w.line(indent, "{{- if ", given, " }}")
		}
		print(e, given)
	}
	if open != "" {
		w.line(indent, "{{- end }}")
	}
}

func (w *writer) mapping(m mapping, indent int) {
	w.each(m, indent, func(e entry, given string) {
		if e.lines != nil {
			w.WriteString(e.lines(indent))
			return
		}
		w.field(e.key, e.value, given, indent)
	})
}

// field prints a key with its value. given is the condition that is already printed.
func (w *writer) field(key string, value any, given string, indent int) {
	name := scalar(key)
	switch v := value.(type) {
	case mapping:
		if len(v) == 0 {
			w.line(indent, name, ": {}")
			return
		}
		w.line(indent, name, ":")
		w.mapping(v.under(given), indent+2)
	case sequence:
		if len(v) == 0 {
			w.line(indent, name, ": []")
			return
		}
		w.line(indent, name, ":")
		w.sequence(v.under(given), indent)
	default:
		w.line(indent, name, ": ", indented(scalar(v), indent))
	}
}

func (w *writer) sequence(s sequence, indent int) {
	w.each(s, indent, func(e entry, given string) {
		if e.lines != nil {
			w.WriteString(e.lines(indent))
			return
		}
		var inner writer
		switch v := e.value.(type) {
		case mapping:
			inner.mapping(v.under(given).plainFirst(), indent+2)
		case sequence:
			inner.sequence(v.under(given), indent+2)
		default:
			inner.line(indent+2, indented(scalar(v), indent))
		}
		text := inner.String()
		switch v := e.value.(type) {
		case mapping:
			if len(v) == 0 {
				text = strings.Repeat(" ", indent+2) + "{}\n"
			}
		case sequence:
			if len(v) == 0 {
				text = strings.Repeat(" ", indent+2) + "[]\n"
			}
		}
		w.WriteString(strings.Repeat(" ", indent) + "- " + text[indent+2:])
	})
}

// plainFirst returns the mapping with an entry first that always exists, since its line has the dash of a sequence.
func (m mapping) plainFirst() mapping {
	i := slices.IndexFunc(m, func(e entry) bool { return e.condition() == "" && e.lines == nil })
	if i <= 0 {
		return m
	}
	return slices.Concat(mapping{m[i]}, m[:i], m[i+1:])
}

// condition returns the condition of an entry. An entry whose parts all depend on conditions depends on one of them: an empty list isn't
// the same as none.
func (e entry) condition() string {
	if e.given != "" || e.lines != nil {
		return cmp.Or(e.given, e.some)
	}
	var parts []entry
	switch v := e.value.(type) {
	case mapping:
		parts = v
	case sequence:
		parts = v
	}
	var conditions []string
	for _, part := range parts {
		condition := part.condition()
		if condition == "" {
			return ""
		}
		if !slices.Contains(conditions, condition) {
			conditions = append(conditions, condition)
		}
	}
	if len(conditions) < 2 {
		return strings.Join(conditions, "")
	}
	for i, c := range conditions {
		if strings.Contains(c, " ") {
			conditions[i] = "(" + c + ")"
		}
	}
	return "or " + strings.Join(conditions, " ")
}

// under returns the mapping without a condition that is already printed.
func (m mapping) under(given string) mapping { return mapping(withoutGiven(m, given)) }

func (s sequence) under(given string) sequence { return sequence(withoutGiven(s, given)) }

func withoutGiven(entries []entry, given string) []entry {
	entries = slices.Clone(entries)
	for i, e := range entries {
		if e.given == given {
			entries[i].given = ""
		}
	}
	return entries
}

// scalar returns a value as a YAML scalar in a template.
func scalar(value any) string {
	if e, ok := value.(expression); ok {
		return string(e)
	}
	return escape(encode(value))
}

func encode(value any) string {
	data, err := yaml.Marshal(value)
	if err != nil { // a scalar can always be encoded
		panic(err)
	}
	return strings.TrimSuffix(string(data), "\n")
}

// escape makes braces in a text no actions.
func escape(text string) string { return strings.ReplaceAll(text, "{{", `{{ "{{" }}`) }

// indented returns a scalar whose further lines are indented below their key.
func indented(text string, indent int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines[1:] {
		if line != "" {
			lines[i+1] = strings.Repeat(" ", indent) + line
		}
	}
	return strings.Join(lines, "\n")
}
