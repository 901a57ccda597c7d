package validate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	apivalidation "github.com/operator-framework/api/pkg/validation"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/operon-sdk/operon/pkg/crd"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// ruleObjects checks the objects besides the CSV for duplicates and against the advice of the OLM documentation.
func (c *content) ruleObjects() {
	first := map[string]manifest.Object{}
	for i, obj := range c.objects {
		key := obj.Group() + "/" + obj.Kind() + "/" + obj.Name()
		if before, ok := first[key]; ok && obj.Name() != "" && obj.Kind() != crdKind {
			c.own(obj, "duplicate-object", "metadata.name", fmt.Sprintf("the object is also in %s; one of them overwrites the other", before.Position), "keep one of the two")
		} else {
			first[key] = obj
		}
		if obj.APIVersion() == "" {
			c.own(obj, "object-metadata", "apiVersion", "is missing", "write the API's group and version, such as v1 or apps/v1")
		}
		for _, result := range apivalidation.ObjectValidator.Validate(c.api.Objects[i]) {
			for _, err := range slices.Concat(result.Warnings, result.Errors) {
				path, fix := "rules", "remove the permission, or list the objects that the operator owns in resourceNames"
				switch obj.Kind() {
				case "PriorityClass":
					path, fix = "globalDefault", "write globalDefault: false"
				case "PodDisruptionBudget":
					path, fix = "spec."+strings.SplitN(err.Detail, " ", 2)[0], "write maxUnavailable: 1, or a minAvailable below 100%; otherwise nodes cannot be drained"
				}
				c.own(obj, "object-advice", path, err.Detail, fix)
			}
		}
	}
}

// ruleFields finds unknown fields of the CSV, most of them misspelled.
func (c *content) ruleFields() {
	data, err := safeyaml.ToJSON(c.csv.Data())
	if err != nil {
		return
	}
	strict, err := kjson.UnmarshalStrict(data, &v1alpha1.ClusterServiceVersion{}, kjson.DisallowUnknownFields)
	if err != nil {
		return
	}
	for _, err := range strict {
		if unknown, ok := errors.AsType[kjson.FieldError](err); ok {
			c.own(c.csv, "unknown-field", unknown.FieldPath(), "unknown field, which OLM ignores", "correct the spelling, or remove it")
		}
	}
}

// ruleSchemas checks the schemas of the CRDs like an API server, and the examples against them. A CRD that an API server refuses is an error,
// since OLM can't install it, unless the verdict must match operator-sdk's.
func (c *content) ruleSchemas(o Options) {
	crds := c.crdsOf("v1")
	for i, definition := range c.api.V1CRDs {
		complete := crd.Complete(definition)
		if complete == nil {
			continue
		}
		sound := true
		for _, problem := range crd.Problems(complete) {
			if !problem.InSchema {
				continue // found by the validators of operator-sdk, too
			}
			sound = false
			c.own(crds[i], "crd-schema", problem.Field, problem.Text, "correct the Go type or its markers, and generate the CRD with 'operon generate manifests'")
			if !o.AsOperatorSDK {
				c.findings[len(c.findings)-1].Severity = diag.Error
			}
		}
		if sound { // the library panics on invalid schemas
			c.ruleExamples(crds[i], complete)
		}
	}
}

// inOrder sorts the errors of a library that follows the order of maps.
func inOrder(errs field.ErrorList) field.ErrorList {
	slices.SortStableFunc(errs, func(a, b *field.Error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errs
}

// ruleExamples checks the examples against the schemas of a CRD, and finds fields that an API server removes without a word.
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
		structural, err := structuralschema.NewStructural(schema.OpenAPIV3Schema)
		if err != nil {
			continue
		}
		for i, example := range examples {
			if example["apiVersion"] != crd.Spec.Group+"/"+version.Name || example["kind"] != crd.Spec.Names.Kind {
				continue
			}
			for _, err := range inOrder(schemavalidation.ValidateCustomResource(field.NewPath("alm-examples").Index(i), example, validator)) {
				c.own(c.csv, "sample-invalid", "metadata.annotations.alm-examples",
					fmt.Sprintf("the example of %s does not match the schema in %s: %s", crd.Spec.Names.Kind, obj.File, err.Error()),
					"correct the sample in config/samples, and generate the bundle again")
			}
			for _, unknown := range pruning.PruneWithOptions(example, structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}) {
				c.own(c.csv, "sample-unknown-field", "metadata.annotations.alm-examples",
					fmt.Sprintf("the example of %s has the field %s, which the schema in %s doesn't have: an API server removes it", crd.Spec.Names.Kind, unknown, obj.File),
					"correct the spelling in config/samples, or remove the field, and generate the bundle again")
			}
		}
	}
}
