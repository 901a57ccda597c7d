package crd

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// A Problem is a reason for which an API server refuses a CRD.
type Problem struct {
	// Field is the path of the field, such as spec.versions[0].schema.openAPIV3Schema.properties[spec].default.
	Field string
	// Text describes the problem: the value, and why it is refused.
	Text string
	// InSchema reports whether the problem is one of a schema.
	InSchema bool
}

// goValue matches a value in Go syntax in a message, which a reader of YAML does not understand.
var goValue = lazyregexp.New(`Invalid value: (null|(\[\])?[\w*&.]*[\[{](?s:.*)[\]}]): `)

// WithoutGoValue removes a value in Go syntax from a message of Kubernetes' validation.
func WithoutGoValue(message string) string {
	return goValue.ReplaceAllString(message, "Invalid value: ")
}

// Complete returns a CRD as an API server stores it, with defaults, in the form in which it is validated, or nil if that is not possible.
func Complete(definition *apiextensionsv1.CustomResourceDefinition) *apiextensions.CustomResourceDefinition {
	full := definition.DeepCopy()
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(full)
	var internal apiextensions.CustomResourceDefinition
	if apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(full, &internal, nil) != nil {
		return nil
	}
	return &internal
}

// Problems returns the problems of the versions of a CRD, as returned by Complete, in a fixed order: of their schemas, columns, subresources
// and selectable fields.
func Problems(definition *apiextensions.CustomResourceDefinition) []Problem {
	var problems []Problem
	for _, err := range validation.ValidateCustomResourceDefinition(context.Background(), definition) {
		field := err.Field
		for _, shared := range []string{"additionalPrinterColumns", "selectableFields", "subresources", "validation"} {
			// What all versions share is validated once, outside of them.
			if rest, ok := strings.CutPrefix(field, "spec."+shared); ok {
				field = "spec.versions[0]." + strings.Replace(shared, "validation", "schema", 1) + rest
			}
		}
		if !strings.HasPrefix(field, "spec.versions[") || strings.HasSuffix(field, ".name") {
			continue
		}
		problems = append(problems, Problem{Field: field, Text: strings.ReplaceAll(WithoutGoValue(err.ErrorBody()), ":  in body ", ": "), InSchema: strings.Contains(field, "openAPIV3Schema")})
	}
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.Field, b.Field), strings.Compare(a.Text, b.Text))
	})
	return slices.Compact(problems)
}
