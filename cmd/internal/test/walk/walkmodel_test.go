package walk

import (
	"slices"
)

// A walkModel is the state of a project that determines which commands must succeed.
type walkModel struct {
	multi, scoped  bool
	license, owner string
	resources      []*resourceModel
}

// A resourceModel is a resource of the project.
type resourceModel struct {
	group, version, kind string
	// own reports whether the types are in the project, and not from Kubernetes or another module.
	own, cluster           bool
	plural                 string
	controllers            []string
	defaulting, validation bool
	spokes                 []string // of a hub
	// repeat is the command that created the types.
	repeat string
}

func (m *walkModel) clone() *walkModel {
	c := *m
	c.resources = nil
	for _, t := range m.resources {
		copied := *t
		copied.controllers, copied.spokes = slices.Clone(t.controllers), slices.Clone(t.spokes)
		c.resources = append(c.resources, &copied)
	}
	return &c
}

func (m *walkModel) find(group, version, kind string) *resourceModel {
	for _, t := range m.resources {
		if t.group == group && t.version == version && t.kind == kind {
			return t
		}
	}
	return nil
}

// ensure returns a resource, which it adds if it does not exist.
func (m *walkModel) ensure(n name) *resourceModel {
	t := m.find(n.group, n.version, n.kind)
	if t == nil {
		t = &resourceModel{group: n.group, version: n.version, kind: n.kind}
		m.resources = append(m.resources, t)
	}
	return t
}

// groups returns the groups with code in the project.
func (m *walkModel) groups() map[string]bool {
	groups := map[string]bool{}
	for _, t := range m.resources {
		groups[t.group] = true
	}
	return groups
}

func (t *resourceModel) name() name { return name{group: t.group, version: t.version, kind: t.kind} }

func (t *resourceModel) hasWebhooks() bool { return t.defaulting || t.validation || len(t.spokes) > 0 }

// isSpoke reports whether another version of the kind converts to and from this one.
func (m *walkModel) isSpoke(t *resourceModel) bool {
	return slices.ContainsFunc(m.resources, func(hub *resourceModel) bool {
		return hub.group == t.group && hub.kind == t.kind && slices.Contains(hub.spokes, t.version)
	})
}

// removeIfEmpty removes a resource without types, controllers and webhooks.
func (m *walkModel) removeIfEmpty(t *resourceModel) {
	if !t.own && len(t.controllers) == 0 && !t.hasWebhooks() {
		m.resources = slices.DeleteFunc(m.resources, func(other *resourceModel) bool { return other == t })
	}
}

// A name contains the flags that identify a kind.
type name struct {
	group, version, kind string
	// external reports whether the types are external. flags are those that name their package, unless they are from Kubernetes.
	external bool
	flags    string
}

func (n name) String() string {
	return " --group " + n.group + " --version " + n.version + " --kind " + n.kind
}

// An editCommand is edit with one setting.
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
		return !slices.ContainsFunc(m.resources, func(t *resourceModel) bool { return t.cluster })
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
		if c.owner != "" { // otherwise the notice is kept
			m.owner = c.owner
		}
	}
}

// fresh returns the init command that creates the project as it is without resources.
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
