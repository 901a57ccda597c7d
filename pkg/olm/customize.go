package olm

import (
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
)

// NoCatalog is the value of Settings.Catalog that omits the public catalog.
const NoCatalog = "none"

// Settings adapt a release to a cluster.
type Settings struct {
	// Namespace is OLM's namespace; empty means DefaultNamespace.
	Namespace string
	// Registry replaces the registry of all images and may contain a path: mirror.example.com/quay.
	Registry string
	// Image replaces OLM's image, and Catalog the image of the public catalog unless it is NoCatalog. Registry does not apply to them.
	Image, Catalog string
}

// Customize applies settings to the release. Call it once.
func (r *Release) Customize(s Settings) {
	if s.Catalog == NoCatalog {
		r.Objects = slices.DeleteFunc(r.Objects, func(o *kube.Object) bool { return o.GetKind() == CatalogSourceKind })
	}
	for _, o := range r.Objects {
		if s.Namespace != "" && s.Namespace != DefaultNamespace {
			moveNamespace(o, s.Namespace)
		}
		for _, c := range containersOf(o) {
			s.customizeContainer(c)
		}
		if o.GetKind() != CatalogSourceKind {
			continue
		}
		if spec, ok := o.Object["spec"].(map[string]any); ok {
			if image, ok := spec["image"].(string); ok {
				spec["image"] = s.mirrorImage(image)
			}
			if s.Catalog != "" && o.GetName() == defaultCatalog {
				spec["image"] = s.Catalog
			}
		}
	}
}

// customizeContainer replaces the images that one of OLM's containers runs and passes on in its arguments.
func (s Settings) customizeContainer(c map[string]any) {
	if image, ok := c["image"].(string); ok {
		c["image"] = s.olmImage(image)
	}
	args, _ := c["args"].([]any)
	for i, arg := range args {
		text, ok := arg.(string)
		if !ok {
			continue
		}
		name, value, found := strings.Cut(text, "=")
		switch {
		case found && strings.HasPrefix(name, "-"):
			args[i] = name + "=" + s.mirrorImage(value)
		case i > 0 && args[i-1] == "--util-image" || i > 0 && args[i-1] == "-util-image":
			args[i] = s.olmImage(text)
		}
	}
}

// olmImage returns the image that replaces one of OLM's own.
func (s Settings) olmImage(image string) string {
	if s.Image != "" {
		return s.Image
	}
	return s.mirrorImage(image)
}

// mirrorImage moves an image to the registry of the settings. It returns a string that is not an image unchanged.
func (s Settings) mirrorImage(image string) string {
	host, path, found := strings.Cut(image, "/")
	if s.Registry == "" || !found || !strings.ContainsAny(host, ".:") {
		return image
	}
	return strings.TrimRight(s.Registry, "/") + "/" + path
}

// containersOf returns the containers of a Deployment, or of the Deployments of a ClusterServiceVersion.
func containersOf(o *kube.Object) []map[string]any {
	var templates []any
	switch o.GetKind() {
	case "Deployment":
		templates = []any{o.Object}
	case CSVKind:
		if deployments, ok := kube.ValueAt(o.Object, "spec", "install", "spec", "deployments").([]any); ok {
			templates = deployments
		}
	}
	var found []map[string]any
	for _, template := range templates {
		for _, item := range kube.ListAt(template, "spec", "template", "spec", "containers") {
			if c, ok := item.(map[string]any); ok {
				found = append(found, c)
			}
		}
	}
	return found
}

// moveNamespace moves an object of DefaultNamespace to another namespace.
func moveNamespace(o *kube.Object, namespace string) {
	switch {
	case o.GetKind() == "Namespace" && o.GetName() == DefaultNamespace:
		o.SetName(namespace)
	case o.GetNamespace() == DefaultNamespace:
		o.SetNamespace(namespace)
	}
	if o.GetKind() == "ClusterRoleBinding" {
		o.SetName(strings.TrimSuffix(o.GetName(), "-"+DefaultNamespace) + "-" + namespace)
		subjects, _ := o.Object["subjects"].([]any)
		for _, item := range subjects {
			if subject, ok := item.(map[string]any); ok && subject["namespace"] == DefaultNamespace {
				subject["namespace"] = namespace
			}
		}
	}
	targets := kube.ListAt(o.Object, "spec", "targetNamespaces")
	for i := range targets {
		if targets[i] == DefaultNamespace {
			targets[i] = namespace
		}
	}
	for _, c := range containersOf(o) {
		for _, field := range []string{"args", "command"} {
			args, _ := c[field].([]any)
			for i := 1; i < len(args); i++ {
				option, _ := args[i-1].(string)
				if strings.HasSuffix(option, "-namespace") && args[i] == DefaultNamespace {
					args[i] = namespace
				}
			}
		}
	}
}
