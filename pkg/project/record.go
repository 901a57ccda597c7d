package project

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// Resources lists the resources in the file's order.
func (c *Config) Resources() []Resource {
	list := safeyaml.Child(c.root, "resources")
	if list == nil {
		return nil
	}
	resources := make([]Resource, 0, len(list.Content))
	for _, item := range list.Content {
		resources = append(resources, c.resource(item))
	}
	return resources
}

// Resource returns the resource of that group, version and kind.
func (c *Config) Resource(gvk GVK) (Resource, bool) {
	if i := c.resourceIndex(gvk); i >= 0 {
		return c.Resources()[i], true
	}
	return Resource{}, false
}

func (c *Config) resourceIndex(gvk GVK) int {
	return slices.IndexFunc(c.Resources(), func(r Resource) bool { return r.GVK == gvk })
}

func gvkOf(item *yaml.Node) GVK {
	return GVK{
		Group: textOf(safeyaml.Child(item, "group")), Domain: textOf(safeyaml.Child(item, "domain")),
		Version: textOf(safeyaml.Child(item, "version")), Kind: textOf(safeyaml.Child(item, "kind")),
	}
}

func (c *Config) resource(item *yaml.Node) Resource {
	r := Resource{
		GVK:      gvkOf(item),
		Plural:   textOf(safeyaml.Child(item, "plural")),
		Path:     c.readPath(textOf(safeyaml.Child(item, "path"))),
		Module:   textOf(safeyaml.Child(item, "module")),
		Core:     truthOf(safeyaml.Child(item, "core")),
		External: truthOf(safeyaml.Child(item, "external")),
	}
	if r.Plural == "" {
		r.Plural = RegularPlural(r.Kind)
	}
	if api := safeyaml.Child(item, "api"); api != nil && len(api.Content) > 0 {
		r.API = &API{CRDVersion: textOf(safeyaml.Child(api, "crdVersion")), Namespaced: truthOf(safeyaml.Child(api, "namespaced"))}
	}
	if w := safeyaml.Child(item, "webhooks"); w != nil && len(w.Content) > 0 {
		r.Webhooks = &Webhooks{
			WebhookVersion: textOf(safeyaml.Child(w, "webhookVersion")),
			Defaulting:     truthOf(safeyaml.Child(w, "defaulting")),
			Validation:     truthOf(safeyaml.Child(w, "validation")),
			Conversion:     truthOf(safeyaml.Child(w, "conversion")),
			Spoke:          textsOf(safeyaml.Child(w, "spoke")),
			DefaultingPath: textOf(safeyaml.Child(w, "defaultingPath")),
			ValidationPath: textOf(safeyaml.Child(w, "validationPath")),
		}
	}
	// controllers wins over controller where a person wrote both, as kubebuilder has it.
	if named := safeyaml.Child(item, "controllers"); named != nil {
		for _, controller := range named.Content {
			if name := textOf(safeyaml.Child(controller, "name")); name != "" {
				r.Controllers = append(r.Controllers, name)
			}
		}
	}
	unnamed := len(r.Controllers) == 0 && truthOf(safeyaml.Child(item, "controller"))
	if unnamed {
		r.Controllers = []string{strings.ToLower(r.Kind)}
	}
	c.addState(&r, unnamed)
	return r
}

// AddResource appends a resource; there must be none of its group, version and kind.
func (c *Config) AddResource(r Resource) error {
	if _, ok := c.Resource(r.GVK); ok {
		return fmt.Errorf("%s: resource %s is there already", FileName, r.GVK)
	}
	return c.writeResource(len(c.Resources()), r)
}

// UpdateResource makes the entry of a resource say what r says, or adds it. Keys that Operon does not know stay.
func (c *Config) UpdateResource(r Resource) error {
	if i := c.resourceIndex(r.GVK); i >= 0 {
		return c.writeResource(i, r)
	}
	return c.AddResource(r)
}

// RemoveResource takes a resource away, with what plugins keep about it.
func (c *Config) RemoveResource(gvk GVK) error {
	i := c.resourceIndex(gvk)
	if i < 0 {
		return fmt.Errorf("%s: there is no resource %s", FileName, gvk)
	}
	return c.whole(func() error {
		if err := c.RemoveImage(gvk); err != nil {
			return err
		}
		if err := c.removeItem([]any{"plugins", keyState, "resources"}, gvk); err != nil {
			return err
		}
		return c.put([]any{"resources", i}, nil)
	})
}

// RemoveImage takes the image of a kind's controller away.
func (c *Config) RemoveImage(gvk GVK) error {
	return c.removeItem([]any{"plugins", keyImages, "resources"}, gvk)
}

// removeItem takes the element about gvk out of a plugin's list, and the list with its last one.
func (c *Config) removeItem(path []any, gvk GVK) error {
	node := c.root
	for _, key := range path {
		node = safeyaml.Child(node, key.(string))
	}
	i := indexOf(node, gvk)
	if i < 0 {
		return nil
	}
	return c.put(join(path, i), nil)
}

// field is a key of a resource's entry with the value it is to have; nil means that it is to be absent.
type field struct {
	path  []any
	value any
}

func (c *Config) writeResource(i int, r Resource) error {
	fields, own := c.fields(i, r)
	if i == len(c.Resources()) {
		item := any(nil)
		for _, f := range fields {
			item = with(item, f.path, f.value)
		}
		fields = []field{{nil, item}}
	}
	return c.whole(func() error {
		for _, f := range fields {
			if err := c.put(append([]any{"resources", i}, f.path...), f.value); err != nil {
				return err
			}
		}
		return c.putState(r.GVK, own)
	})
}

// fields are the entry of a resource. What operator-sdk's reader would refuse is left out in projects it can
// read, and comes back as own; so does what the peers of the layout before would refuse.
func (c *Config) fields(i int, r Resource) (fields []field, own []field) {
	set := func(value any, path ...any) { fields = append(fields, field{path, value}) }
	newer := c.readByNewer()
	ownUnless := func(known bool, value any, path ...any) {
		if _, there := c.get(append([]any{"resources", i}, path...)); known || there {
			set(value, path...)
			value = nil
		}
		own = append(own, field{path[len(path)-1:], value})
	}
	newerKey := func(value any, path ...any) { ownUnless(newer, value, path...) }

	api, webhooks := r.API, r.Webhooks
	if api == nil {
		api = &API{}
	}
	if webhooks == nil {
		webhooks = &Webhooks{}
	}
	set(textOrNothing(r.Group), "group")
	set(textOrNothing(r.Domain), "domain")
	set(r.Version, "version")
	set(r.Kind, "kind")
	if _, written := c.get([]any{"resources", i, "plural"}); written || r.Plural != RegularPlural(r.Kind) {
		set(textOrNothing(r.Plural), "plural")
	}
	set(textOrNothing(c.writtenPath(i, r.Path)), "path")
	ownUnless(!c.RootLayout(), truthOrNothing(r.Core), "core")
	ownUnless(!c.RootLayout(), truthOrNothing(r.External), "external")
	set(textOrNothing(api.CRDVersion), "api", "crdVersion")
	set(truthOrNothing(api.Namespaced), "api", "namespaced")
	set(textOrNothing(webhooks.WebhookVersion), "webhooks", "webhookVersion")
	set(truthOrNothing(webhooks.Defaulting), "webhooks", "defaulting")
	set(truthOrNothing(webhooks.Validation), "webhooks", "validation")
	set(truthOrNothing(webhooks.Conversion), "webhooks", "conversion")
	set(list(webhooks.Spoke), "webhooks", "spoke")
	newerKey(textOrNothing(webhooks.DefaultingPath), "webhooks", "defaultingPath")
	newerKey(textOrNothing(webhooks.ValidationPath), "webhooks", "validationPath")
	newerKey(textOrNothing(r.Module), "module")

	_, named := c.get([]any{"resources", i, "controllers"})
	plain := len(r.Controllers) == 1 && r.Controllers[0] == strings.ToLower(r.Kind) && !named
	switch {
	case len(r.Controllers) == 0 || plain:
		set(truthOrNothing(plain), "controller")
		set(nil, "controllers")
		own = append(own, field{[]any{"controllers"}, nil})
	case newer || named:
		var names []any
		for _, name := range r.Controllers {
			names = append(names, map[string]any{"name": name})
		}
		set(nil, "controller")
		set(names, "controllers")
		own = append(own, field{[]any{"controllers"}, nil})
	default:
		set(true, "controller")
		own = append(own, field{[]any{"controllers"}, list(r.Controllers)})
	}
	return fields, own
}

func textOrNothing(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// list turns texts into what YAML decodes a list to, nil where there are none.
func list(texts []string) any {
	if len(texts) == 0 {
		return nil
	}
	items := make([]any, len(texts))
	for i, s := range texts {
		items[i] = s
	}
	return items
}
