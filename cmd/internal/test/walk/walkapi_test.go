package walk

import (
	"slices"
	"strings"
)

// apiCommand is create api.
type apiCommand struct {
	name
	resource, controller, cluster   bool
	plural, controllerName, imageOf string
}

func (c apiCommand) line(*walkModel) string {
	line := "create api" + c.name.String()
	for _, f := range []struct {
		flag  string
		value bool
	}{{"--resource", c.resource}, {"--controller", c.controller}} {
		line += " " + f.flag
		if !f.value {
			line += "=false"
		}
	}
	if c.cluster {
		line += " --namespaced=false"
	}
	for _, f := range []struct{ flag, value string }{{"--plural", c.plural}, {"--controller-name", c.controllerName}, {"--image", c.imageOf}} {
		if f.value != "" {
			line += " " + f.flag + " " + f.value
		}
	}
	return line + c.flags
}

// pluralOrSibling is the plural that the kind gets; without a flag that of its other versions.
func (c apiCommand) pluralOrSibling(m *walkModel) string {
	if c.plural != "" {
		return c.plural
	}
	for _, t := range m.things {
		if t.group == c.group && t.kind == c.kind {
			return t.plural
		}
	}
	return ""
}

func (c apiCommand) allowed(m *walkModel) bool {
	have := m.find(c.group, c.version, c.kind)
	if c.resource {
		if c.foreign || have != nil || c.cluster && m.scoped {
			return false
		}
		for _, t := range m.things {
			if !t.own || t.group == c.group && t.kind != c.kind {
				continue
			}
			if t.group != c.group {
				if !m.multi {
					return false
				}
			} else if t.cluster != c.cluster || t.plural != c.pluralOrSibling(m) {
				return false
			}
		}
	} else {
		if !c.foreign && have == nil || have != nil && c.plural != "" && c.plural != have.plural {
			return false
		}
	}
	switch {
	case c.controllerName != "" && !c.controller,
		c.imageOf != "" && (!c.resource || !c.controller),
		!c.resource && !c.controller:
		return false
	case c.controller:
		return c.controllerAllowed(m, have)
	}
	return true
}

// controllerAllowed compares the identifier that the controller gets with those of its package.
func (c apiCommand) controllerAllowed(m *walkModel, have *thing) bool {
	if c.controllerName == "" && have != nil && len(have.controllers) > 0 {
		return false
	}
	for _, t := range m.things {
		if m.multi && t.group != c.group {
			continue
		}
		for _, other := range t.controllers {
			if identifierOf(other) == identifierOf(c.controllerOf()) {
				return false
			}
		}
	}
	return true
}

func identifierOf(controller string) string { return strings.ReplaceAll(controller, "-", "") }

func (c apiCommand) controllerOf() string {
	if c.controllerName != "" {
		return c.controllerName
	}
	return strings.ToLower(c.kind)
}

func (c apiCommand) apply(m *walkModel) {
	plural := c.pluralOrSibling(m)
	t := m.ensure(c.name)
	if c.resource {
		t.own, t.cluster, t.plural, t.again = true, c.cluster, plural, c.line(m)
	}
	if c.controller {
		t.controllers = append(t.controllers, c.controllerOf())
	}
}

// undo is the command that takes away what this one made in m.
func (c apiCommand) undo(m *walkModel) string {
	line := "delete api" + c.name.String()
	if m.find(c.group, c.version, c.kind) != nil {
		line += " --controller-name " + c.controllerOf()
	}
	return line
}

// deleteCommand is delete api.
type deleteCommand struct {
	name
	controllerName string
}

func (c deleteCommand) line(*walkModel) string {
	line := "delete api" + c.name.String()
	if c.controllerName != "" {
		line += " --controller-name " + c.controllerName
	}
	return line
}

func (c deleteCommand) allowed(m *walkModel) bool {
	have := m.find(c.group, c.version, c.kind)
	switch {
	case have == nil:
		return false
	case c.controllerName != "":
		return slices.Contains(have.controllers, c.controllerName)
	}
	return len(have.spokes) == 0 && !m.isSpoke(have)
}

func (c deleteCommand) apply(m *walkModel) {
	t := m.find(c.group, c.version, c.kind)
	t.again = "" // it would make what goes again
	if c.controllerName == "" {
		t.own, t.controllers, t.defaulting, t.validation = false, nil, false, false
	} else {
		t.controllers = slices.DeleteFunc(t.controllers, func(name string) bool { return name == c.controllerName })
	}
	m.forget(t)
}
