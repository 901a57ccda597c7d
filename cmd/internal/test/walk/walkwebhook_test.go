package walk

import (
	"slices"
	"strings"
)

// hookCommand is create webhook.
type hookCommand struct {
	name
	defaulting, validation, conversion bool
	spokes                             []string
	path                               string
}

func (c hookCommand) line(*walkModel) string {
	line := "create webhook" + c.name.String()
	if c.defaulting {
		line += " --defaulting"
		if c.path != "" {
			line += " --defaulting-path " + c.path
		}
	}
	if c.validation {
		line += " --programmatic-validation"
	}
	if c.conversion {
		line += " --conversion"
	}
	if len(c.spokes) > 0 {
		line += " --spoke " + strings.Join(c.spokes, ",")
	}
	return line + c.flags
}

func (c hookCommand) allowed(m *walkModel) bool {
	have := m.find(c.group, c.version, c.kind)
	switch {
	case have == nil && !c.foreign,
		!c.defaulting && !c.validation && !c.conversion,
		have != nil && (c.defaulting && have.defaulting || c.validation && have.validation),
		len(c.spokes) > 0 && !c.conversion:
		return false
	}
	return !c.conversion || c.conversionAllowed(m, have)
}

func (c hookCommand) conversionAllowed(m *walkModel, have *thing) bool {
	if c.foreign || len(c.spokes) == 0 {
		return false
	}
	isNew := false
	for i, spoke := range c.spokes {
		other := m.find(c.group, spoke, c.kind)
		if other == nil || spoke == c.version || slices.Contains(c.spokes[:i], spoke) {
			return false
		}
		isNew = isNew || !slices.Contains(have.spokes, spoke)
	}
	return isNew && !slices.ContainsFunc(m.things, func(t *thing) bool {
		return t.group == c.group && t.kind == c.kind && t.version != c.version && len(t.spokes) > 0
	})
}

func (c hookCommand) apply(m *walkModel) {
	t := m.ensure(c.name)
	t.defaulting, t.validation = t.defaulting || c.defaulting, t.validation || c.validation
	for _, spoke := range c.spokes {
		if !slices.Contains(t.spokes, spoke) {
			t.spokes = append(t.spokes, spoke)
		}
	}
}

// unhookCommand is delete webhook; without a kind of webhooks, of all.
type unhookCommand struct {
	name
	defaulting, validation, conversion bool
	spokes                             []string
}

func (c unhookCommand) line(m *walkModel) string {
	line := hookCommand{name: c.name, defaulting: c.defaulting, validation: c.validation, conversion: c.conversion, spokes: c.spokes}.line(m)
	return "delete" + strings.TrimSuffix(strings.TrimPrefix(line, "create"), c.flags)
}

func (c unhookCommand) allowed(m *walkModel) bool {
	have := m.find(c.group, c.version, c.kind)
	if have == nil || !have.hasWebhooks() || c.defaulting && !have.defaulting || c.validation && !have.validation {
		return false
	}
	unknown := func(spoke string) bool { return !slices.Contains(have.spokes, spoke) }
	return (!c.conversion || len(have.spokes) > 0) && (c.conversion || len(c.spokes) == 0) && !slices.ContainsFunc(c.spokes, unknown)
}

func (c unhookCommand) apply(m *walkModel) {
	t := m.find(c.group, c.version, c.kind)
	all := !c.defaulting && !c.validation && !c.conversion
	t.defaulting, t.validation = t.defaulting && !c.defaulting && !all, t.validation && !c.validation && !all
	t.spokes = slices.DeleteFunc(t.spokes, func(spoke string) bool {
		return all || c.conversion && (len(c.spokes) == 0 || slices.Contains(c.spokes, spoke))
	})
	m.forget(t)
}

// undo is the command that takes away what this one made in m.
func (c hookCommand) undo(m *walkModel) string {
	back := unhookCommand{c.name, c.defaulting, c.validation, c.conversion, nil}
	if have := m.find(c.group, c.version, c.kind); have != nil {
		for _, spoke := range c.spokes {
			if len(have.spokes) > 0 && !slices.Contains(have.spokes, spoke) {
				back.spokes = append(back.spokes, spoke)
			}
		}
	}
	return back.line(m)
}
