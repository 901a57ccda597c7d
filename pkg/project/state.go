package project

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// Image is the container that a controller made with --image runs, as given on the command line.
type Image struct {
	// Ref is the image reference, Command the comma-separated argument vector.
	Ref, Command string
	// Port and RunAsUser are decimal numbers; empty where not given.
	Port, RunAsUser string
}

// Image returns the image of a kind's controller.
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

// SetImage records the image of a kind's controller where both peers' deploy-image plugin does.
func (c *Config) SetImage(gvk GVK, image Image) error {
	path := []any{"plugins", keyImages, "resources"}
	return c.putItem(path, gvk, []field{
		{[]any{"options", "image"}, textOrNothing(image.Ref)},
		{[]any{"options", "containerCommand"}, textOrNothing(image.Command)},
		{[]any{"options", "containerPort"}, textOrNothing(image.Port)},
		{[]any{"options", "runAsUser"}, textOrNothing(image.RunAsUser)},
	})
}

// addState completes a resource with what Operon keeps in its own entry; controllers' names only where
// the resource's entry gives none.
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
	r.Core = r.Core || truthOf(safeyaml.Child(item, "core"))
	r.External = r.External || truthOf(safeyaml.Child(item, "external"))
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

func (c *Config) putState(gvk GVK, fields []field) error {
	return c.putItem([]any{"plugins", keyState, "resources"}, gvk, fields)
}

// putItem sets fields of the element of a plugin's list that is about gvk. An element that would say nothing
// is not added, and one that came to say nothing removed.
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
	said, _ := item.(map[string]any)
	identity := map[string]any{"group": gvk.Group, "domain": gvk.Domain, "version": gvk.Version, "kind": gvk.Kind}
	empty := true
	for key := range said {
		if _, ok := identity[key]; !ok {
			empty = false
		}
	}
	if empty {
		return c.put(join(path, i), nil)
	}
	for key, value := range identity {
		if value != "" {
			said[key] = value
		}
	}
	return c.whole(func() error { return c.putDeep(join(path, i), said) })
}

// indexOf finds the element of a list that is about gvk.
func indexOf(items *yaml.Node, gvk GVK) int {
	if items == nil || items.Kind != yaml.SequenceNode {
		return -1
	}
	return slices.IndexFunc(items.Content, func(item *yaml.Node) bool { return gvkOf(item) == gvk })
}
