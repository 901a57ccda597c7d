package helmchart

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// A CRDSpec describes the CustomResourceDefinition of a kind whose objects are releases of a chart.
type CRDSpec struct {
	// Group is the API group with its domain: cache.example.com.
	Group string
	// Kind, Plural, Singular and ListKind are the names of the kind. The defaults of Singular and ListKind are derived from Kind.
	Kind, Plural, Singular, ListKind string
	// Versions are the versions of the kind, all of which are served.
	Versions []CRDVersion
}

// A CRDVersion is a version of a kind.
type CRDVersion struct {
	// Name is the name of the version: v1alpha1.
	Name string
	// Stored is true for the version that is stored, which is the last one if none is.
	Stored bool
	// Chart are the files of the chart. The schema of spec is that of its values.
	Chart Files
	// Open makes spec an object with any content, as operator-sdk does.
	Open bool
}

// CRD returns the manifest of the CustomResourceDefinition, which begins with a document separator like those of controller-gen.
// Its schema accepts at least the values that the chart accepts: keys with a default are optional, and null deletes a default.
func CRD(spec CRDSpec) ([]byte, error) {
	if len(spec.Versions) == 0 {
		return nil, errors.New("the kind has no versions")
	}
	stored := slices.IndexFunc(spec.Versions, func(v CRDVersion) bool { return v.Stored })
	if stored < 0 {
		stored = len(spec.Versions) - 1
	}
	versions := make([]any, len(spec.Versions))
	for i, version := range spec.Versions {
		values, err := version.values(maxCRDSize / len(spec.Versions))
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", version.Name, err)
		}
		versions[i] = map[string]any{
			"name": version.Name, "served": true, "storage": i == stored,
			"additionalPrinterColumns": printerColumns(),
			"subresources":             map[string]any{"status": map[string]any{}},
			"schema":                   map[string]any{"openAPIV3Schema": objectSchema(spec, values)},
		}
	}
	data, err := yaml.Marshal(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": spec.Plural + "." + spec.Group},
		"spec": map[string]any{
			"group": spec.Group,
			"names": map[string]any{
				"kind": spec.Kind, "listKind": spec.listKind(), "plural": spec.Plural, "singular": spec.singular(),
			},
			"scope":    "Namespaced",
			"versions": versions,
		},
	})
	return append([]byte("---\n"), data...), err
}

// values returns the schema of spec, with a size of at most limit bytes.
func (v CRDVersion) values(limit int) (*valueSchema, error) {
	tree, err := readTree(v.Chart)
	if err != nil {
		return nil, err
	}
	description := fmt.Sprintf("spec are the values of the chart %s. They override its defaults; null deletes a default.", tree.name)
	if v.Open {
		return openObject(description), nil
	}
	values := tree.describe(inference{tested: testedKeys(v.Chart)}, tree.values)
	values.description = description
	return shrink(values, limit), nil
}

// objectSchema returns the schema of objects of the kind.
func objectSchema(spec CRDSpec, values *valueSchema) map[string]any {
	encoded := values.encode(false)
	out := map[string]any{
		"type":        "object",
		"description": fmt.Sprintf("%s is the Schema for the %s API.", spec.Kind, spec.Plural),
		"properties": map[string]any{
			"apiVersion": map[string]any{"type": "string", "description": apiVersionDescription},
			"kind":       map[string]any{"type": "string", "description": kindDescription},
			"metadata":   map[string]any{"type": "object"},
			"spec":       encoded,
			"status":     statusSchema(),
		},
	}
	if len(values.required) > 0 {
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

func (s CRDSpec) listKind() string {
	if s.ListKind != "" {
		return s.ListKind
	}
	return s.Kind + "List"
}

func (s CRDSpec) singular() string {
	if s.Singular != "" {
		return s.Singular
	}
	return strings.ToLower(s.Kind)
}

// printerColumns are the columns of kubectl get.
func printerColumns() []any {
	condition := func(name string) string { return fmt.Sprintf(`.status.conditions[?(@.type==%q)].`, name) }
	return []any{
		map[string]any{"name": "Deployed", "type": "string", "jsonPath": condition("Deployed") + "status"},
		map[string]any{"name": "Ready", "type": "string", "jsonPath": condition("Ready") + "status"},
		map[string]any{"name": "Reason", "type": "string", "jsonPath": condition("Ready") + "reason", "priority": 1},
		map[string]any{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
	}
}

// statusSchema is the schema of status. It preserves fields of other versions of the runtime.
func statusSchema() map[string]any {
	text := func(description string) map[string]any {
		return map[string]any{"type": "string", "description": description}
	}
	return map[string]any{
		"type": "object", "description": "status is the observed state of the release.", preserveUnknown: true,
		"properties": map[string]any{
			"conditions": map[string]any{
				"type": "array", "description": "conditions represent the observed state of the release.",
				"items": map[string]any{
					"type": "object", preserveUnknown: true, "required": []any{"status", "type"},
					"properties": map[string]any{
						"type":               text("type is the name of the condition, such as Deployed or Ready."),
						"status":             text("status is True, False or Unknown."),
						"reason":             text("reason is the cause of the last transition in CamelCase."),
						"message":            text("message describes the last transition."),
						"lastTransitionTime": map[string]any{"type": "string", "description": "lastTransitionTime is the time of the last change of status.", "nullable": true},
						"observedGeneration": map[string]any{"type": "integer", "format": "int64", "description": "observedGeneration is the generation of the object that the condition describes."},
					},
				},
			},
			"deployedRelease": map[string]any{
				"type": "object", "description": "deployedRelease is the release that is deployed.", preserveUnknown: true, "nullable": true,
				"properties": map[string]any{"name": text("name is the name of the release.")},
			},
			"observedGeneration": map[string]any{
				"type": "integer", "format": "int64", "description": "observedGeneration is the generation of the object that was reconciled last.",
			},
		},
	}
}
