package walk

import (
	"slices"
	"strings"
)

// A createAPICommand is create api.
type createAPICommand struct {
	name
	resource, controller, cluster   bool
	plural, controllerName, imageOf string
}

func (c createAPICommand) line(*walkModel) string {
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

// pluralOf returns the plural of the new version: the flag's, or else the other versions'.
func (c createAPICommand) pluralOf(m *walkModel) string {
	if c.plural != "" {
		return c.plural
	}
	for _, t := range m.resources {
		if t.group == c.group && t.kind == c.kind {
			return t.plural
		}
	}
	return ""
}

func (c createAPICommand) allowed(m *walkModel) bool {
	existing := m.find(c.group, c.version, c.kind)
	if c.resource {
		if c.external || existing != nil || c.cluster && m.scoped {
			return false
		}
		for _, t := range m.resources {
			if !t.own || t.group == c.group && t.kind != c.kind {
				continue
			}
			if t.group != c.group {
				if !m.multi {
					return false
				}
			} else if t.cluster != c.cluster || t.plural != c.pluralOf(m) {
				return false
			}
		}
	} else {
		if !c.external && existing == nil || existing != nil && c.plural != "" && c.plural != existing.plural {
			return false
		}
	}
	switch {
	case c.controllerName != "" && !c.controller,
		c.imageOf != "" && (!c.resource || !c.controller),
		!c.resource && !c.controller:
		return false
	case c.controller:
		return c.controllerAllowed(m, existing)
	}
	return true
}

// controllerAllowed reports whether the identifier of the controller is new in its package.
func (c createAPICommand) controllerAllowed(m *walkModel, existing *resourceModel) bool {
	if c.controllerName == "" && existing != nil && len(existing.controllers) > 0 {
		return false
	}
	for _, t := range m.resources {
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

func (c createAPICommand) controllerOf() string {
	if c.controllerName != "" {
		return c.controllerName
	}
	return strings.ToLower(c.kind)
}

func (c createAPICommand) apply(m *walkModel) {
	plural := c.pluralOf(m)
	t := m.ensure(c.name)
	if c.resource {
		t.own, t.cluster, t.plural, t.repeat = true, c.cluster, plural, c.line(m)
	}
	if c.controller {
		t.controllers = append(t.controllers, c.controllerOf())
	}
}

// undo returns the command that reverts this one.
func (c createAPICommand) undo(m *walkModel) string {
	line := "delete api" + c.name.String()
	if m.find(c.group, c.version, c.kind) != nil {
		line += " --controller-name " + c.controllerOf()
	}
	return line
}

// A deleteAPICommand is delete api.
type deleteAPICommand struct {
	name
	controllerName string
}

func (c deleteAPICommand) line(*walkModel) string {
	line := "delete api" + c.name.String()
	if c.controllerName != "" {
		line += " --controller-name " + c.controllerName
	}
	return line
}

func (c deleteAPICommand) allowed(m *walkModel) bool {
	existing := m.find(c.group, c.version, c.kind)
	switch {
	case existing == nil:
		return false
	case c.controllerName != "":
		return slices.Contains(existing.controllers, c.controllerName)
	}
	return len(existing.spokes) == 0 && !m.isSpoke(existing)
}

func (c deleteAPICommand) apply(m *walkModel) {
	t := m.find(c.group, c.version, c.kind)
	t.repeat = "" // it would create deleted parts
	if c.controllerName == "" {
		t.own, t.controllers, t.defaulting, t.validation = false, nil, false, false
	} else {
		t.controllers = slices.DeleteFunc(t.controllers, func(name string) bool { return name == c.controllerName })
	}
	m.removeIfEmpty(t)
}
