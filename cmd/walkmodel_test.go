package cmd_test

import (
	"slices"
	"strings"
)

// walkModel is what a walk knows of its project: enough to tell which commands must work.
type walkModel struct {
	multi, scoped  bool
	license, owner string
	things         []*thing
}

// thing is a group, version and kind that the project has something for.
type thing struct {
	group, version, kind string
	// own types are the project's, others come from Kubernetes or another module.
	own, cluster           bool
	plural                 string
	controllers            []string
	defaulting, validation bool
	spokes                 []string // of a hub
	// again is the command that made the types.
	again string
}

func (m *walkModel) clone() *walkModel {
	c := *m
	c.things = nil
	for _, t := range m.things {
		copied := *t
		copied.controllers, copied.spokes = slices.Clone(t.controllers), slices.Clone(t.spokes)
		c.things = append(c.things, &copied)
	}
	return &c
}

func (m *walkModel) find(group, version, kind string) *thing {
	for _, t := range m.things {
		if t.group == group && t.version == version && t.kind == kind {
			return t
		}
	}
	return nil
}

// ensure finds a thing, or adds it.
func (m *walkModel) ensure(n name) *thing {
	t := m.find(n.group, n.version, n.kind)
	if t == nil {
		t = &thing{group: n.group, version: n.version, kind: n.kind}
		m.things = append(m.things, t)
	}
	return t
}

// groups are the groups that have code in the project.
func (m *walkModel) groups() map[string]bool {
	groups := map[string]bool{}
	for _, t := range m.things {
		groups[t.group] = true
	}
	return groups
}

func (t *thing) name() name { return name{group: t.group, version: t.version, kind: t.kind} }

func (t *thing) hasWebhooks() bool { return t.defaulting || t.validation || len(t.spokes) > 0 }

// isSpoke tells whether another version of the kind converts to and from this one.
func (m *walkModel) isSpoke(t *thing) bool {
	return slices.ContainsFunc(m.things, func(hub *thing) bool {
		return hub.group == t.group && hub.kind == t.kind && slices.Contains(hub.spokes, t.version)
	})
}

// forget drops a thing of which nothing is left.
func (m *walkModel) forget(t *thing) {
	if !t.own && len(t.controllers) == 0 && !t.hasWebhooks() {
		m.things = slices.DeleteFunc(m.things, func(other *thing) bool { return other == t })
	}
}

// name names a kind on the command line.
type name struct {
	group, version, kind string
	// foreign kinds have types elsewhere; flags say where, unless they are Kubernetes' own.
	foreign bool
	flags   string
}

func (n name) String() string {
	return " --group " + n.group + " --version " + n.version + " --kind " + n.kind
}

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

// editCommand is edit, with one flag that asks for one thing.
type editCommand struct {
	flag, value, owner string
}

func (c editCommand) line(*walkModel) string {
	line := "edit --" + c.flag + "=" + c.value
	if c.owner != "" {
		line += " --owner " + c.owner
	}
	return line
}

func (c editCommand) allowed(m *walkModel) bool {
	switch c.flag + "=" + c.value {
	case "multigroup=false":
		return !m.multi || len(m.groups()) < 2
	case "namespaced=true":
		return !slices.ContainsFunc(m.things, func(t *thing) bool { return t.cluster })
	}
	return true
}

func (c editCommand) apply(m *walkModel) {
	switch c.flag {
	case "multigroup":
		m.multi = c.value == "true"
	case "namespaced":
		m.scoped = c.value == "true"
	case "license":
		m.license = c.value
		if c.owner != "" { // else the notice stays
			m.owner = c.owner
		}
	}
}

// fresh is the init that gives the project that is left when all things are gone.
func (m *walkModel) fresh() string {
	line := "init --domain example.com --repo example.com/walk --project-name walk --license " + m.license
	if m.owner != "" {
		line += " --owner " + m.owner
	}
	if m.multi {
		line += " --multigroup"
	}
	if m.scoped {
		line += " --namespaced"
	}
	return line
}
