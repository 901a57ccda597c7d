package walk

import (
	"slices"
	"strings"
)

// A createWebhookCommand is create webhook.
type createWebhookCommand struct {
	name
	defaulting, validation, conversion bool
	spokes                             []string
	path                               string
}

func (c createWebhookCommand) line(*walkModel) string {
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

func (c createWebhookCommand) allowed(m *walkModel) bool {
	existing := m.find(c.group, c.version, c.kind)
	switch {
	case existing == nil && !c.external,
		!c.defaulting && !c.validation && !c.conversion,
		existing != nil && (c.defaulting && existing.defaulting || c.validation && existing.validation),
		len(c.spokes) > 0 && !c.conversion:
		return false
	}
	return !c.conversion || c.conversionAllowed(m, existing)
}

func (c createWebhookCommand) conversionAllowed(m *walkModel, existing *resourceModel) bool {
	if c.external || len(c.spokes) == 0 {
		return false
	}
	isNew := false
	for i, spoke := range c.spokes {
		other := m.find(c.group, spoke, c.kind)
		if other == nil || spoke == c.version || slices.Contains(c.spokes[:i], spoke) {
			return false
		}
		isNew = isNew || !slices.Contains(existing.spokes, spoke)
	}
	return isNew && !slices.ContainsFunc(m.resources, func(t *resourceModel) bool {
		return t.group == c.group && t.kind == c.kind && t.version != c.version && len(t.spokes) > 0
	})
}

func (c createWebhookCommand) apply(m *walkModel) {
	t := m.ensure(c.name)
	t.defaulting, t.validation = t.defaulting || c.defaulting, t.validation || c.validation
	for _, spoke := range c.spokes {
		if !slices.Contains(t.spokes, spoke) {
			t.spokes = append(t.spokes, spoke)
		}
	}
}

// A deleteWebhookCommand is delete webhook. Without a type of webhooks it deletes all.
type deleteWebhookCommand struct {
	name
	defaulting, validation, conversion bool
	spokes                             []string
}

func (c deleteWebhookCommand) line(m *walkModel) string {
	line := createWebhookCommand{name: c.name, defaulting: c.defaulting, validation: c.validation, conversion: c.conversion, spokes: c.spokes}.line(m)
	return "delete" + strings.TrimSuffix(strings.TrimPrefix(line, "create"), c.flags)
}

func (c deleteWebhookCommand) allowed(m *walkModel) bool {
	existing := m.find(c.group, c.version, c.kind)
	if existing == nil || !existing.hasWebhooks() || c.defaulting && !existing.defaulting || c.validation && !existing.validation {
		return false
	}
	unknown := func(spoke string) bool { return !slices.Contains(existing.spokes, spoke) }
	return (!c.conversion || len(existing.spokes) > 0) && (c.conversion || len(c.spokes) == 0) && !slices.ContainsFunc(c.spokes, unknown)
}

func (c deleteWebhookCommand) apply(m *walkModel) {
	t := m.find(c.group, c.version, c.kind)
	all := !c.defaulting && !c.validation && !c.conversion
	t.defaulting, t.validation = t.defaulting && !c.defaulting && !all, t.validation && !c.validation && !all
	t.spokes = slices.DeleteFunc(t.spokes, func(spoke string) bool {
		return all || c.conversion && (len(c.spokes) == 0 || slices.Contains(c.spokes, spoke))
	})
	m.removeIfEmpty(t)
}

// undo returns the command that reverts this one.
func (c createWebhookCommand) undo(m *walkModel) string {
	back := deleteWebhookCommand{c.name, c.defaulting, c.validation, c.conversion, nil}
	if existing := m.find(c.group, c.version, c.kind); existing != nil {
		for _, spoke := range c.spokes {
			if len(existing.spokes) > 0 && !slices.Contains(existing.spokes, spoke) {
				back.spokes = append(back.spokes, spoke)
			}
		}
	}
	return back.line(m)
}
