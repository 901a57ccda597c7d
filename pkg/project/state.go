package project

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// An Image is the container of a controller that was created with --image, with the values of the flags.
type Image struct {
	// Ref is the image reference, Command the comma-separated command.
	Ref, Command string
	// Port and RunAsUser are decimal numbers or empty.
	Port, RunAsUser string
}

// Image returns the image of the controller of a kind.
func (c *Config) Image(gvk GVK) (Image, bool) {
	items := safeyaml.Child(c.root, "plugins", keyImages, "resources")
	i := indexOf(items, gvk)
	if i < 0 {
		return Image{}, false
	}
	options := safeyaml.Child(items.Content[i], "options")
	return Image{
		Ref:       textOf(safeyaml.Child(options, "image")),
		Command:   textOf(safeyaml.Child(options, "containerCommand")),
		Port:      textOf(safeyaml.Child(options, "containerPort")),
		RunAsUser: textOf(safeyaml.Child(options, "runAsUser")),
	}, true
}

// SetImage records the image of the controller of a kind in the entry of the deploy-image plugin of both peers.
func (c *Config) SetImage(gvk GVK, image Image) error {
	path := []any{"plugins", keyImages, "resources"}
	return c.putItem(path, gvk, []field{
		{[]any{"options", "image"}, textOrNil(image.Ref)},
		{[]any{"options", "containerCommand"}, textOrNil(image.Command)},
		{[]any{"options", "containerPort"}, textOrNil(image.Port)},
		{[]any{"options", "runAsUser"}, textOrNil(image.RunAsUser)},
	})
}

// addState adds the values in the entry of Operon to a resource. unnamed reports whether the resource has no controllers key.
func (c *Config) addState(r *Resource, unnamed bool) {
	items := safeyaml.Child(c.state(), "resources")
	i := indexOf(items, r.GVK)
	if i < 0 {
		return
	}
	item := items.Content[i]
	if names := textsOf(safeyaml.Child(item, "controllers")); unnamed && len(names) > 0 {
		r.Controllers = names
	}
	r.Core = r.Core || boolOf(safeyaml.Child(item, "core"))
	r.External = r.External || boolOf(safeyaml.Child(item, "external"))
	r.OpenSchema = boolOf(safeyaml.Child(item, "openSchema"))
	if r.API != nil {
		r.API.SSA = r.API.SSA || boolOf(safeyaml.Child(item, "ssa"))
	}
	if r.Module == "" {
		r.Module = textOf(safeyaml.Child(item, "module"))
	}
	if r.Webhooks != nil && r.Webhooks.DefaultingPath == "" {
		r.Webhooks.DefaultingPath = textOf(safeyaml.Child(item, "defaultingPath"))
	}
	if r.Webhooks != nil && r.Webhooks.ValidationPath == "" {
		r.Webhooks.ValidationPath = textOf(safeyaml.Child(item, "validationPath"))
	}
}

// HasPlugin reports whether the file has an entry for a plugin.
func (c *Config) HasPlugin(key string) bool { return safeyaml.Child(c.root, "plugins", key) != nil }

// OptionalPlugins returns the optional plugins of the project. Kubebuilder's init can record them in the layout only.
func (c *Config) OptionalPlugins() Plugins {
	has := func(key string) bool { return c.HasPlugin(key) || slices.Contains(c.Layout(), key) }
	return Plugins{Grafana: has(KeyGrafana), AutoUpdate: has(KeyAutoUpdate)}
}

// AddPlugin records a plugin without values, unless the file has an entry for it.
func (c *Config) AddPlugin(key string) error {
	if c.HasPlugin(key) {
		return nil
	}
	return c.setPlugin(key, map[string]any{})
}

// setPlugin records the entry of a plugin, as decoded YAML. Nil removes it.
func (c *Config) setPlugin(key string, value any) error {
	if value == nil {
		return c.put([]any{"plugins", key}, nil)
	}
	return c.atomically(func() error { return c.putDeep([]any{"plugins", key}, value) })
}

// state returns the entry of Operon.
func (c *Config) state() *yaml.Node { return safeyaml.Child(c.root, "plugins", keyState) }

// putState sets fields of a resource in the entry of Operon.
func (c *Config) putState(gvk GVK, fields []field) error {
	return c.putItem([]any{"plugins", keyState, "resources"}, gvk, fields)
}

// putItem sets fields of the item of gvk in the list of a plugin. An item without other fields is not added, or removed.
func (c *Config) putItem(path []any, gvk GVK, fields []field) error {
	node := c.root
	for _, key := range path {
		node = safeyaml.Child(node, key.(string))
	}
	item := any(nil)
	i := indexOf(node, gvk)
	if i >= 0 {
		item, _ = c.get(join(path, i))
	} else {
		i = 0
		if node != nil {
			i = len(node.Content)
		}
	}
	for _, f := range fields {
		item = with(item, f.path, f.value)
	}
	values, _ := item.(map[string]any)
	identity := map[string]any{"group": gvk.Group, "domain": gvk.Domain, "version": gvk.Version, "kind": gvk.Kind}
	empty := true
	for key := range values {
		if _, ok := identity[key]; !ok {
			empty = false
		}
	}
	if empty {
		return c.put(join(path, i), nil)
	}
	for key, value := range identity {
		if value != "" {
			values[key] = value
		}
	}
	return c.atomically(func() error { return c.putDeep(join(path, i), values) })
}

// indexOf returns the index of the item of gvk in a list, or -1.
func indexOf(items *yaml.Node, gvk GVK) int {
	if items == nil || items.Kind != yaml.SequenceNode {
		return -1
	}
	return slices.IndexFunc(items.Content, func(item *yaml.Node) bool { return gvkOf(item) == gvk })
}
