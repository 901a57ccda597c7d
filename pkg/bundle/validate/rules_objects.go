package validate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	apivalidation "github.com/operator-framework/api/pkg/validation"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// ruleObjects checks the objects beside the CSV: doubles, and what OLM's documentation advises against.
func (c *content) ruleObjects() {
	first := map[string]manifest.Object{}
	for i, obj := range c.objects {
		key := obj.Group() + "/" + obj.Kind() + "/" + obj.Name()
		if before, ok := first[key]; ok && obj.Name() != "" && obj.Kind() != crdKind {
			c.own(obj, "duplicate-object", "metadata.name", fmt.Sprintf("the object is in %s too; one of them overwrites the other", before.Position), "keep one of the two")
		} else {
			first[key] = obj
		}
		if obj.APIVersion() == "" {
			c.own(obj, "object-metadata", "apiVersion", "is missing", "write the API's group and version, such as v1 or apps/v1")
		}
		for _, result := range apivalidation.ObjectValidator.Validate(c.api.Objects[i]) {
			for _, err := range slices.Concat(result.Warnings, result.Errors) {
				path := "spec"
				switch obj.Kind() {
				case "PriorityClass":
					path = "globalDefault"
				case "Role", "ClusterRole":
					path = "rules"
				case "PodDisruptionBudget":
					path = "spec." + strings.SplitN(err.Detail, " ", 2)[0]
				}
				c.own(obj, "object-advice", path, err.Detail, "see https://olm.operatorframework.io/docs/advanced-tasks/adding-pod-disruption-budgets and adding-priority-classes")
			}
		}
	}
}

// ruleFields finds fields of the CSV that nothing reads, being misspelt for the most part.
func (c *content) ruleFields() {
	asJSON, err := yaml.YAMLToJSON(c.csv.Data())
	if err != nil {
		return
	}
	var given any
	if json.Unmarshal(asJSON, &given) != nil {
		return
	}
	known, err := json.Marshal(typedCSV(asJSON))
	if err != nil {
		return
	}
	var read any
	if json.Unmarshal(known, &read) != nil {
		return
	}
	c.unread(given, read, nil)
}

// typedCSV is the CSV as OLM reads it.
func typedCSV(data []byte) *v1alpha1.ClusterServiceVersion {
	csv := &v1alpha1.ClusterServiceVersion{}
	_ = json.Unmarshal(data, csv) // it has been read before
	return csv
}

// unread compares what is given with what a Go type kept of it.
func (c *content) unread(given, read any, path []string) {
	switch g := given.(type) {
	case map[string]any:
		r, ok := read.(map[string]any)
		if !ok {
			return
		}
		for _, key := range sortedKeys(g) {
			under := append(slices.Clip(path), key)
			if value, ok := r[key]; ok {
				c.unread(g[key], value, under)
				continue
			}
			// Empty values are left out by the types, whatever their names.
			if empty(g[key]) || key == "status" && len(path) == 0 {
				continue
			}
			c.own(c.csv, "unknown-field", fieldPath(under), "OLM knows no such field, and passes it over", "correct the spelling, or take it out")
		}
	case []any:
		r, ok := read.([]any)
		if !ok || len(r) != len(g) {
			return
		}
		for i := range g {
			c.unread(g[i], r[i], append(slices.Clip(path), fmt.Sprint(i)))
		}
	}
}

func empty(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return !slices.ContainsFunc(sortedKeys(v), func(key string) bool { return !empty(v[key]) })
	case []any:
		return len(v) == 0
	case string:
		return v == ""
	case float64:
		return v == 0
	case bool:
		return !v
	}
	return value == nil
}

// ruleSchemas checks the schemas of the CRDs as an API server does, and the examples against them.
func (c *content) ruleSchemas() {
	crds := slices.DeleteFunc(slices.Clone(c.crds), func(o manifest.Object) bool { return o.APIVersion() != "apiextensions.k8s.io/v1" })
	for i, crd := range c.api.V1CRDs {
		full := crd.DeepCopy()
		apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(full)
		var internal apiextensions.CustomResourceDefinition
		if apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(full, &internal, nil) != nil {
			continue
		}
		for _, err := range crdvalidation.ValidateCustomResourceDefinition(context.Background(), &internal) {
			if strings.Contains(err.Field, "openAPIV3Schema") {
				text := goValue.ReplaceAllString(err.ErrorBody(), "Invalid value: ")
				c.own(crds[i], "crd-schema", err.Field, text, "correct the Go type or its markers, and generate the CRD with 'operon generate manifests'")
			}
		}
		c.ruleExamples(crds[i], &internal)
	}
}

// ruleExamples checks the examples of a CRD's versions against their schemas.
func (c *content) ruleExamples(obj manifest.Object, crd *apiextensions.CustomResourceDefinition) {
	var examples []map[string]any
	if json.Unmarshal([]byte(c.api.CSV.Annotations["alm-examples"]), &examples) != nil {
		return
	}
	for _, version := range crd.Spec.Versions {
		schema := version.Schema
		if schema == nil {
			schema = crd.Spec.Validation
		}
		if schema == nil || schema.OpenAPIV3Schema == nil {
			continue
		}
		validator, _, err := schemavalidation.NewSchemaValidator(schema.OpenAPIV3Schema)
		if err != nil {
			continue
		}
		for i, example := range examples {
			if example["apiVersion"] != crd.Spec.Group+"/"+version.Name || example["kind"] != crd.Spec.Names.Kind {
				continue
			}
			for _, err := range schemavalidation.ValidateCustomResource(field.NewPath("").Index(i), example, validator) {
				c.own(c.csv, "sample-invalid", "metadata.annotations.alm-examples",
					fmt.Sprintf("the example of %s does not fit the schema in %s: %s", crd.Spec.Names.Kind, obj.File, strings.TrimPrefix(err.Error(), "[")),
					"correct the sample in config/samples, and generate the bundle again")
			}
		}
	}
}
