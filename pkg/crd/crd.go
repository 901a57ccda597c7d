// Package crd writes the CustomResourceDefinitions of kinds without Go types, in the form of controller-gen.
package crd

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// PreserveUnknown is the key of a schema that keeps fields that it does not describe.
const PreserveUnknown = "x-kubernetes-preserve-unknown-fields"

// A Definition describes the CustomResourceDefinition of a namespaced kind.
type Definition struct {
	// Group is the API group with its domain: cache.example.com.
	Group string
	// Kind, Plural, Singular and ListKind are the names of the kind. The defaults of Singular and ListKind are derived from Kind.
	Kind, Plural, Singular, ListKind string
	// ClusterScoped makes the kind cluster-scoped. Otherwise, it is namespaced unless a manifest says that it isn't.
	ClusterScoped bool
	// Versions are the versions of the kind, all of which are served.
	Versions []Version
	// Columns are the printer columns of kubectl get.
	Columns []any
	// Status is the schema of status.
	Status map[string]any
}

// A Version is a version of a kind.
type Version struct {
	// Name is the name of the version: v1alpha1.
	Name string
	// Stored is true for the version that is stored, which is the last one if none is.
	Stored bool
	// Spec is the schema of spec. SpecRequired reports whether objects must have a spec.
	Spec         map[string]any
	SpecRequired bool
	// Outputs is the schema of status.outputs, or nil.
	Outputs map[string]any
}

// Marshal returns the manifest, which begins with a document separator as controller-gen's do.
func (d Definition) Marshal() ([]byte, error) { return d.Update(nil) }

// Update returns the manifest current with the names, versions and schemas of the definition. Everything else is as in current, unless
// that is nil: scope, short names, categories, annotations, and for its versions printer columns and subresources.
func (d Definition) Update(current map[string]any) ([]byte, error) {
	if len(d.Versions) == 0 {
		return nil, errors.New("the kind has no versions")
	}
	updated := update(current, d.keepingNames(current).object())
	spec := updated["spec"].(map[string]any)
	versions := spec["versions"].([]any)
	before := map[any]map[string]any{}
	oldSpec, _ := current["spec"].(map[string]any)
	if scope, ok := oldSpec["scope"].(string); ok && !d.ClusterScoped {
		spec["scope"] = scope
	}
	oldVersions, _ := oldSpec["versions"].([]any)
	for _, version := range oldVersions {
		if fields, ok := version.(map[string]any); ok {
			before[fields["name"]] = fields
		}
	}
	changed := len(oldVersions) != len(versions) || slices.ContainsFunc(d.Versions, func(v Version) bool { return before[v.Name] == nil })
	for i, version := range versions {
		version := version.(map[string]any)
		old := before[version["name"]]
		if old == nil {
			continue
		}
		old = maps.Clone(old)
		old["schema"] = version["schema"]
		if changed { // one version must be stored
			old["storage"] = version["storage"]
		}
		versions[i] = old
	}
	data, err := yaml.Marshal(updated)
	return append([]byte("---\n"), data...), err
}

// keepingNames returns the definition with the singular and the list kind of a manifest, if it has none of its own.
func (d Definition) keepingNames(current map[string]any) Definition {
	spec, _ := current["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	if kind, _ := names["kind"].(string); kind == d.Kind {
		singular, _ := names["singular"].(string)
		list, _ := names["listKind"].(string)
		d.Singular, d.ListKind = cmp.Or(d.Singular, singular), cmp.Or(d.ListKind, list)
	}
	return d
}

// update returns the fields of current, overridden by the fields of object. Lists are replaced.
func update(current, object map[string]any) map[string]any {
	updated := maps.Clone(current)
	if updated == nil {
		return object
	}
	for key, value := range object {
		if fields, ok := value.(map[string]any); ok {
			before, _ := updated[key].(map[string]any)
			value = update(before, fields)
		}
		updated[key] = value
	}
	return updated
}

// object returns the manifest as fields.
func (d Definition) object() map[string]any {
	stored := slices.IndexFunc(d.Versions, func(v Version) bool { return v.Stored })
	if stored < 0 {
		stored = len(d.Versions) - 1
	}
	scope := "Namespaced"
	if d.ClusterScoped {
		scope = "Cluster"
	}
	versions := make([]any, len(d.Versions))
	for i, version := range d.Versions {
		versions[i] = map[string]any{
			"name": version.Name, "served": true, "storage": i == stored,
			"additionalPrinterColumns": d.Columns,
			"subresources":             map[string]any{"status": map[string]any{}},
			"schema":                   map[string]any{"openAPIV3Schema": d.objectSchema(version)},
		}
	}
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": d.Plural + "." + d.Group},
		"spec": map[string]any{
			"group": d.Group,
			"names": map[string]any{
				"kind": d.Kind, "listKind": cmp.Or(d.ListKind, d.Kind+"List"), "plural": d.Plural,
				"singular": cmp.Or(d.Singular, strings.ToLower(d.Kind)),
			},
			"scope":    scope,
			"versions": versions,
		},
	}
}

func (d Definition) objectSchema(v Version) map[string]any {
	out := map[string]any{
		"type":        "object",
		"description": fmt.Sprintf("%s is the Schema for the %s API.", d.Kind, d.Plural),
		"properties": map[string]any{
			"apiVersion": map[string]any{"type": "string", "description": apiVersionDescription},
			"kind":       map[string]any{"type": "string", "description": kindDescription},
			"metadata":   map[string]any{"type": "object"},
			"spec":       v.Spec,
			"status":     withOutputs(d.Status, v.Outputs),
		},
	}
	if v.SpecRequired {
		out["required"] = []any{"spec"}
	}
	return out
}

const (
	apiVersionDescription = "APIVersion defines the versioned schema of this representation of an object.\n" +
		"Servers should convert recognized schemas to the latest internal value, and\nmay reject unrecognized values.\n" +
		"More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources"
	kindDescription = "Kind is a string value representing the REST resource this object represents.\n" +
		"Servers may infer this from the endpoint the client submits requests to.\nCannot be updated.\nIn CamelCase.\n" +
		"More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
)

// Column returns a printer column with a field of the condition of a type. Columns with a priority above 0 are shown by -o wide only.
func Column(name, condition, field string, priority int) map[string]any {
	column := map[string]any{
		"name": name, "type": "string", "jsonPath": fmt.Sprintf(`.status.conditions[?(@.type==%q)].%s`, condition, field),
	}
	if priority > 0 {
		column["priority"] = priority
	}
	return column
}

// AgeColumn returns the printer column with the age of an object.
func AgeColumn() map[string]any {
	return map[string]any{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
}

// Text returns the schema of a string with a description.
func Text(description string) map[string]any {
	return map[string]any{"type": "string", "description": description}
}

// Status returns the schema of the status of subject, such as "release", which preserves fields of other versions of the runtime.
// types are examples of conditions. The fields of conditions and of status are added to those that all runtimes write.
func Status(subject, types string, conditions, status map[string]any) map[string]any {
	condition := map[string]any{
		"type":               Text("type is the name of the condition, such as " + types + "."),
		"status":             Text("status is True, False or Unknown."),
		"reason":             Text("reason is the cause of the last transition in CamelCase."),
		"message":            Text("message describes the last transition."),
		"lastTransitionTime": map[string]any{"type": "string", "description": "lastTransitionTime is the last time the status changed.", "nullable": true},
		"observedGeneration": map[string]any{"type": "integer", "format": "int64", "description": "observedGeneration is the generation of the object that the condition describes."},
	}
	maps.Copy(condition, conditions)
	fields := map[string]any{
		"conditions": map[string]any{
			"type": "array", "description": "conditions represent the observed state of the " + subject + ".",
			"items": map[string]any{"type": "object", PreserveUnknown: true, "required": []any{"status", "type"}, "properties": condition},
		},
		"observedGeneration": map[string]any{
			"type": "integer", "format": "int64", "description": "observedGeneration is the generation of the object that was last reconciled.",
		},
	}
	maps.Copy(fields, status)
	return map[string]any{
		"type": "object", "description": "status is the observed state of the " + subject + ".", PreserveUnknown: true, "properties": fields,
	}
}
