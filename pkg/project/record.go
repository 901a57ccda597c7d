package project

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// Resources returns the resources in the order of the file.
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

// Resource returns the resource of a group, version and kind.
func (c *Config) Resource(gvk GVK) (Resource, bool) {
	if i := c.resourceIndex(gvk); i >= 0 {
		return c.Resources()[i], true
	}
	return Resource{}, false
}

// PathPosition returns the place of the path of a resource, or of the resource if it has none.
func (c *Config) PathPosition(gvk GVK) diag.Position {
	at := diag.Position{File: FileName}
	if i := c.resourceIndex(gvk); i >= 0 {
		item := safeyaml.Child(c.root, "resources").Content[i]
		node := cmp.Or(safeyaml.Child(item, "path"), item)
		at.Line, at.Column = node.Line, node.Column
	}
	return at
}

func (c *Config) resourceIndex(gvk GVK) int {
	return slices.IndexFunc(c.Resources(), func(r Resource) bool { return r.GVK == gvk })
}

// gvkOf returns the group, version and kind of a resource.
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
		Core:     boolOf(safeyaml.Child(item, "core")),
		External: boolOf(safeyaml.Child(item, "external")),
	}
	isRecorded := r.Plural != ""
	if !isRecorded {
		r.Plural = RegularPlural(r.Kind)
	}
	if api := safeyaml.Child(item, "api"); api != nil && len(api.Content) > 0 {
		r.API = &API{CRDVersion: textOf(safeyaml.Child(api, "crdVersion")), Namespaced: boolOf(safeyaml.Child(api, "namespaced")), SSA: boolOf(safeyaml.Child(api, "ssa"))}
	}
	if w := safeyaml.Child(item, "webhooks"); w != nil && len(w.Content) > 0 {
		r.Webhooks = &Webhooks{
			WebhookVersion: textOf(safeyaml.Child(w, "webhookVersion")),
			Defaulting:     boolOf(safeyaml.Child(w, "defaulting")),
			Validation:     boolOf(safeyaml.Child(w, "validation")),
			Conversion:     boolOf(safeyaml.Child(w, "conversion")),
			Spoke:          textsOf(safeyaml.Child(w, "spoke")),
			DefaultingPath: textOf(safeyaml.Child(w, "defaultingPath")),
			ValidationPath: textOf(safeyaml.Child(w, "validationPath")),
		}
	}
	// As in kubebuilder, controllers has precedence over controller.
	if named := safeyaml.Child(item, "controllers"); named != nil {
		for _, controller := range named.Content {
			if name := textOf(safeyaml.Child(controller, "name")); name != "" {
				r.Controllers = append(r.Controllers, name)
			}
		}
	}
	unnamed := len(r.Controllers) == 0 && boolOf(safeyaml.Child(item, "controller"))
	if unnamed {
		r.Controllers = []string{strings.ToLower(r.Kind)}
	}
	c.addState(&r, unnamed)
	if !r.Core && !c.written[r.GVK] && !(isRecorded && c.HasTypes(r)) {
		if plural, ok := c.deployedPlural(r); ok {
			r.Plural = plural
		}
	}
	return r
}

// AddResource appends a resource with a new group, version and kind.
func (c *Config) AddResource(r Resource) error {
	if _, ok := c.Resource(r.GVK); ok {
		return fmt.Errorf("%s: resource %s already exists", FileName, r.GVK)
	}
	return c.writeResource(len(c.Resources()), r)
}

// UpdateResource replaces the values of a resource, or adds it. Unknown keys are kept.
func (c *Config) UpdateResource(r Resource) error {
	if i := c.resourceIndex(r.GVK); i >= 0 {
		return c.writeResource(i, r)
	}
	return c.AddResource(r)
}

// RemoveResource removes a resource, also from the entries of plugins.
func (c *Config) RemoveResource(gvk GVK) error {
	i := c.resourceIndex(gvk)
	if i < 0 {
		return fmt.Errorf("%s: resource %s not found", FileName, gvk)
	}
	return c.atomically(func() error {
		if err := c.RemoveImage(gvk); err != nil {
			return err
		}
		if err := c.removeItem([]any{"plugins", keyState, "resources"}, gvk); err != nil {
			return err
		}
		return c.put([]any{"resources", i}, nil)
	})
}

// RemoveImage removes the image of the controller of a kind.
func (c *Config) RemoveImage(gvk GVK) error {
	return c.removeItem([]any{"plugins", keyImages, "resources"}, gvk)
}

// removeItem removes the item of gvk from the list of a plugin, and the list if it becomes empty.
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

// A field is the new value of a key of a resource; nil removes the key.
type field struct {
	path  []any
	value any
}

func (c *Config) writeResource(i int, r Resource) error {
	fields, state := c.fields(i, r)
	if i == len(c.Resources()) {
		item := any(nil)
		for _, f := range fields {
			item = with(item, f.path, f.value)
		}
		fields = []field{{nil, item}}
	}
	return c.atomically(func() error {
		for _, f := range fields {
			if err := c.put(append([]any{"resources", i}, f.path...), f.value); err != nil {
				return err
			}
		}
		c.written = maps.Clone(c.written)
		if c.written == nil {
			c.written = map[GVK]bool{}
		}
		c.written[r.GVK] = true
		return c.putState(r.GVK, state)
	})
}

// fields returns the entry of a resource. Values that operator-sdk or the peers of an older layout would reject are in state
// instead, the entry of Operon.
func (c *Config) fields(i int, r Resource) (fields []field, state []field) {
	set := func(value any, path ...any) { fields = append(fields, field{path, value}) }
	newer := c.allowsNewKeys()
	stateUnless := func(supported bool, value any, path ...any) {
		if _, exists := c.get(append([]any{"resources", i}, path...)); supported || exists {
			set(value, path...)
			value = nil
		}
		state = append(state, field{path[len(path)-1:], value})
	}
	newerKey := func(value any, path ...any) { stateUnless(newer, value, path...) }

	api, webhooks := r.API, r.Webhooks
	if api == nil {
		api = &API{}
	}
	if webhooks == nil {
		webhooks = &Webhooks{}
	}
	set(textOrNil(r.Group), "group")
	set(textOrNil(r.Domain), "domain")
	set(r.Version, "version")
	set(r.Kind, "kind")
	if _, written := c.get([]any{"resources", i, "plural"}); written || r.Plural != RegularPlural(r.Kind) {
		set(textOrNil(r.Plural), "plural")
	}
	set(textOrNil(c.writtenPath(i, r.Path)), "path")
	stateUnless(!c.Facts().Older, boolOrNil(r.Core), "core")
	stateUnless(!c.Facts().Older, boolOrNil(r.External), "external")
	set(textOrNil(api.CRDVersion), "api", "crdVersion")
	set(boolOrNil(api.Namespaced), "api", "namespaced")
	// kubebuilder rejects the key before 4.16, as operator-sdk 1.42 does, which has no such types.
	stateUnless(c.CLIVersion() == "" || atLeast(c.CLIVersion(), 4, 16), boolOrNil(api.SSA), "api", "ssa")
	set(textOrNil(webhooks.WebhookVersion), "webhooks", "webhookVersion")
	set(boolOrNil(webhooks.Defaulting), "webhooks", "defaulting")
	set(boolOrNil(webhooks.Validation), "webhooks", "validation")
	set(boolOrNil(webhooks.Conversion), "webhooks", "conversion")
	set(list(webhooks.Spoke), "webhooks", "spoke")
	newerKey(textOrNil(webhooks.DefaultingPath), "webhooks", "defaultingPath")
	newerKey(textOrNil(webhooks.ValidationPath), "webhooks", "validationPath")
	newerKey(textOrNil(r.Module), "module")
	state = append(state, field{[]any{"openSchema"}, boolOrNil(r.OpenSchema)})

	written, named := c.get([]any{"resources", i, "controllers"})
	// kubebuilder replaces the key controller when it adds a second one.
	plain := len(r.Controllers) == 1 && r.Controllers[0] == strings.ToLower(r.Kind) && (!named || len(listOf(written)) > 1)
	switch {
	case len(r.Controllers) == 0 || plain:
		set(boolOrNil(plain), "controller")
		set(nil, "controllers")
		state = append(state, field{[]any{"controllers"}, nil})
	case newer || named:
		var names []any
		for _, name := range r.Controllers {
			names = append(names, map[string]any{"name": name})
		}
		set(nil, "controller")
		set(names, "controllers")
		state = append(state, field{[]any{"controllers"}, nil})
	default:
		set(true, "controller")
		state = append(state, field{[]any{"controllers"}, list(r.Controllers)})
	}
	return fields, state
}

// listOf returns a value that is a list, or nil.
func listOf(value any) []any {
	list, _ := value.([]any)
	return list
}

// textOrNil returns nil instead of "", which is not written.
func textOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// list converts texts to a decoded YAML list, or nil if there are none.
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
