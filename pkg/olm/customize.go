package olm

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/kube"
)

// NoCatalog as Settings.Catalog leaves the public catalog out.
const NoCatalog = "none"

// Settings are what a release can be made to differ in.
type Settings struct {
	// Namespace is where OLM runs; empty is DefaultNamespace.
	Namespace string
	// Registry takes the place of every image's registry, and may end in a path: mirror.example.com/quay.
	Registry string
	// Image is OLM's own image, Catalog that of the public catalog, or NoCatalog. Registry does not change them.
	Image, Catalog string
}

// Customize makes the release as the settings say. It is called once.
func (r *Release) Customize(s Settings) {
	if s.Catalog == NoCatalog {
		r.Objects = slices.DeleteFunc(r.Objects, func(o *kube.Object) bool { return o.GetKind() == CatalogSourceKind })
	}
	for _, o := range r.Objects {
		if s.Namespace != "" && s.Namespace != DefaultNamespace {
			move(o, s.Namespace)
		}
		for _, c := range containers(o) {
			s.container(c)
		}
		if o.GetKind() != CatalogSourceKind {
			continue
		}
		if spec, ok := o.Object["spec"].(map[string]any); ok {
			if image, ok := spec["image"].(string); ok {
				spec["image"] = s.mirrored(image)
			}
			if s.Catalog != "" && o.GetName() == defaultCatalog {
				spec["image"] = s.Catalog
			}
		}
	}
}

// container replaces the images that one of OLM's containers runs and names in its arguments.
func (s Settings) container(c map[string]any) {
	if image, ok := c["image"].(string); ok {
		c["image"] = s.own(image)
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
			args[i] = name + "=" + s.mirrored(value)
		case i > 0 && args[i-1] == "--util-image" || i > 0 && args[i-1] == "-util-image":
			args[i] = s.own(text)
		}
	}
}

// own is what OLM's own image becomes.
func (s Settings) own(image string) string {
	if s.Image != "" {
		return s.Image
	}
	return s.mirrored(image)
}

// mirrored is an image in the registry of the settings. What is no image stays.
func (s Settings) mirrored(image string) string {
	host, path, found := strings.Cut(image, "/")
	if s.Registry == "" || !found || !strings.ContainsAny(host, ".:") {
		return image
	}
	return strings.TrimRight(s.Registry, "/") + "/" + path
}

// containers are those of a Deployment, and of the Deployments of a ClusterServiceVersion.
func containers(o *kube.Object) []map[string]any {
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
		list := kube.ListAt(template, "spec", "template", "spec", "containers")
		for _, item := range list {
			if c, ok := item.(map[string]any); ok {
				found = append(found, c)
			}
		}
	}
	return found
}

// move makes an object that belongs into OLM's usual namespace belong into another.
func move(o *kube.Object, namespace string) {
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
	if targets, found, _ := unstructured.NestedStringSlice(o.Object, "spec", "targetNamespaces"); found {
		for i := range targets {
			if targets[i] == DefaultNamespace {
				targets[i] = namespace
			}
		}
		// The object has a spec of the right kind, or it would have no targets.
		_ = unstructured.SetNestedStringSlice(o.Object, targets, "spec", "targetNamespaces")
	}
	for _, c := range containers(o) {
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
