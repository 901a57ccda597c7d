package walk

import (
	"slices"
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
