package project

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kubebuilder/v3/pkg/model/resource"
)

// GVK names an API. Group and Domain together are Kubernetes' group.
type GVK struct {
	Group, Domain, Version, Kind string
}

// QualifiedGroup is the group as Kubernetes knows it: cache.example.com, or core for the legacy core group.
func (g GVK) QualifiedGroup() string {
	switch {
	case g.Domain == "":
		return g.Group
	case g.Group == "":
		return g.Domain
	}
	return g.Group + "." + g.Domain
}

// String is group/version, kind: for people.
func (g GVK) String() string { return g.QualifiedGroup() + "/" + g.Version + " " + g.Kind }

// API tells that the project holds an API's Go types.
type API struct {
	// CRDVersion is the version of CustomResourceDefinition, v1.
	CRDVersion string
	// Namespaced is the scope of the kind.
	Namespaced bool
}

// Webhooks tells which webhooks the project has for a kind.
type Webhooks struct {
	// WebhookVersion is the version of the webhook configuration, v1.
	WebhookVersion                     string
	Defaulting, Validation, Conversion bool
	// Spoke lists the versions that convert to and from this one, the hub.
	Spoke []string
	// DefaultingPath and ValidationPath are served instead of the default paths.
	DefaultingPath, ValidationPath string
}

// Resource is one API that the project defines or controls.
type Resource struct {
	GVK
	// Plural is the resource's name in URLs and RBAC rules, lower case.
	Plural string
	// Path is the import path of the Go types, empty where the project has none.
	Path string
	// API is nil for types that live elsewhere, Webhooks where there are none.
	API      *API
	Webhooks *Webhooks
	// Controllers are the names of the project's controllers for the kind. A controller that was given no name
	// has the lower-case kind's.
	Controllers []string
	// Core types come from Kubernetes, External ones from another module, whose path and version Module holds
	// where it was given: github.com/cert-manager/cert-manager@v1.18.2.
	Core, External bool
	Module         string
}

// HasAPI tells whether the project holds the types.
func (r Resource) HasAPI() bool { return r.API != nil && r.API.CRDVersion != "" }

// HasController tells whether the project has a controller for the kind.
func (r Resource) HasController() bool { return len(r.Controllers) > 0 }

// PackageName is the Go package name that stands for the group: sea-creatures gives seacreatures.
func (r Resource) PackageName() string {
	if r.Group == "" {
		return identifier(r.Domain)
	}
	return identifier(r.Group)
}

// ImportAlias is the name that Go files import Path by: cachev1alpha1. Project APIs whose alias generated
// files use for something else, such as group apps in version v1, get a longer one: appsv1api.
func (r Resource) ImportAlias() string {
	alias := r.PackageName() + r.Version
	if r.Core || r.External {
		return alias
	}
	switch {
	case alias == "metav1", alias == "corev1", alias == "appsv1", strings.HasPrefix(alias, "webhook"):
		return alias + "api"
	}
	return alias
}

// FileStem is the beginning of file names about the kind: memcached.
func (r Resource) FileStem() string { return strings.ToLower(r.Kind) }

// ReconcilerName is the Go identifier before "Reconciler" of a controller: Memcached for the one that has the
// kind's name, CaptainBackup for captain-backup.
func (r Resource) ReconcilerName(controller string) string {
	if controller == "" || controller == strings.ToLower(r.Kind) {
		return r.Kind
	}
	var b strings.Builder
	for part := range strings.SplitSeq(controller, "-") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// ControllerName is the name of a controller in logs and metrics, unique in the manager: the name itself,
// in multigroup projects with the group before it.
func (r Resource) ControllerName(controller string, multiGroup bool) string {
	if controller == "" {
		controller = strings.ToLower(r.Kind)
	}
	if multiGroup && r.Group != "" {
		return strings.ToLower(r.Group) + "-" + controller
	}
	return controller
}

// RegularPlural is the plural of a kind by the rules of English, as both peers form it.
func RegularPlural(kind string) string { return resource.RegularPlural(kind) }

// APIPath is the import path of the types of an API of the project.
func (c *Config) APIPath(group, version string) string {
	if c.MultiGroup() && group != "" {
		return path.Join(c.Repo(), "api", group, version)
	}
	return path.Join(c.Repo(), "api", version)
}

func identifier(s string) string { return strings.NewReplacer("-", "", ".", "").Replace(s) }

// Resources lists the resources in the file's order.
func (c *Config) Resources() []Resource {
	list := child(c.root, "resources")
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
		Group: textOf(child(item, "group")), Domain: textOf(child(item, "domain")),
		Version: textOf(child(item, "version")), Kind: textOf(child(item, "kind")),
	}
}

func (c *Config) resource(item *yaml.Node) Resource {
	r := Resource{
		GVK:      gvkOf(item),
		Plural:   textOf(child(item, "plural")),
		Path:     textOf(child(item, "path")),
		Module:   textOf(child(item, "module")),
		Core:     truthOf(child(item, "core")),
		External: truthOf(child(item, "external")),
	}
	if r.Plural == "" {
		r.Plural = RegularPlural(r.Kind)
	}
	if api := child(item, "api"); api != nil && len(api.Content) > 0 {
		r.API = &API{CRDVersion: textOf(child(api, "crdVersion")), Namespaced: truthOf(child(api, "namespaced"))}
	}
	if w := child(item, "webhooks"); w != nil && len(w.Content) > 0 {
		r.Webhooks = &Webhooks{
			WebhookVersion: textOf(child(w, "webhookVersion")),
			Defaulting:     truthOf(child(w, "defaulting")),
			Validation:     truthOf(child(w, "validation")),
			Conversion:     truthOf(child(w, "conversion")),
			Spoke:          textsOf(child(w, "spoke")),
			DefaultingPath: textOf(child(w, "defaultingPath")),
			ValidationPath: textOf(child(w, "validationPath")),
		}
	}
	// controllers wins over controller where a person wrote both, as kubebuilder has it.
	if named := child(item, "controllers"); named != nil {
		for _, controller := range named.Content {
			if name := textOf(child(controller, "name")); name != "" {
				r.Controllers = append(r.Controllers, name)
			}
		}
	}
	unnamed := len(r.Controllers) == 0 && truthOf(child(item, "controller"))
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

// field is a key of a resource's entry with the value it is to have; nil means that it is to be absent.
type field struct {
	path  []any
	value any
}

func (c *Config) writeResource(i int, r Resource) error {
	before := *c
	fields, own := c.fields(i, r)
	if i == len(c.Resources()) {
		item := any(nil)
		for _, f := range fields {
			item = with(item, f.path, f.value)
		}
		fields = []field{{nil, item}}
	}
	for _, f := range fields {
		if err := c.put(append([]any{"resources", i}, f.path...), f.value); err != nil {
			*c = before
			return err
		}
	}
	if err := c.putState(r.GVK, own); err != nil {
		*c = before
		return err
	}
	return nil
}

// fields are the entry of a resource. What operator-sdk's reader would refuse is left out in projects it can
// read, and comes back as own.
func (c *Config) fields(i int, r Resource) (fields []field, own []field) {
	set := func(value any, path ...any) { fields = append(fields, field{path, value}) }
	newer := c.readByNewer()
	newerKey := func(value any, path ...any) {
		if _, there := c.get(append([]any{"resources", i}, path...)); newer || there {
			set(value, path...)
			value = nil
		}
		own = append(own, field{path[len(path)-1:], value})
	}

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
	set(textOrNothing(r.Path), "path")
	set(truthOrNothing(r.Core), "core")
	set(truthOrNothing(r.External), "external")
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
