package helmchart

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// checkedCRD returns the CRD of a chart after the validation of the API server.
func checkedCRD(chart Files) (*apiextensions.CustomResourceDefinition, error) {
	manifest, err := CRD(CRDSpec{Group: "charts.example.com", Kind: "Sample", Plural: "samples", Versions: []CRDVersion{{Name: "v1", Chart: chart}}})
	if err != nil {
		return nil, err
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := safeyaml.UnmarshalStrict(manifest, &crd); err != nil {
		return nil, &schemaError{fmt.Sprintf("%v\n%s", err, manifest)}
	}
	var internal apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&crd, &internal, nil); err != nil {
		return nil, &schemaError{err.Error()}
	}
	internal.Status.StoredVersions = []string{"v1"}
	if errs := crdvalidation.ValidateCustomResourceDefinition(context.Background(), &internal); len(errs) > 0 {
		return nil, &schemaError{fmt.Sprintf("%v\n%s", errs.ToAggregate(), manifest)}
	}
	return &internal, nil
}

// A schemaError is a defect of a schema.
type schemaError struct{ problem string }

func (e *schemaError) Error() string { return e.problem }

// rejects returns the error of the API server for values.
func rejects(crd *apiextensions.CustomResourceDefinition, values any) error {
	schema := crd.Spec.Validation
	if schema == nil {
		schema = crd.Spec.Versions[0].Schema
	}
	spec := schema.OpenAPIV3Schema.Properties["spec"]
	validator, _, err := validation.NewSchemaValidator(&spec)
	if err != nil {
		return err
	}
	return validation.ValidateCustomResource(nil, values, validator).ToAggregate()
}

// FuzzInference checks that the schema of any values accepts these values.
func FuzzInference(f *testing.F) {
	f.Add("a: 1\nb: [x, {c: true}]\n")
	f.Add("a: &a {b: ~}\nc: *a\nd: {<<: *a}\n---\na: 2\n")
	f.Add("port: 0x10\ncpu: 1e3\non: off\n? [a]\n: b\n'': ''\n")
	f.Add("# -- (int) text\na: text\n## @param b [array] text\nb: 1\n")
	f.Add("example.com/a: |\n  text\nenv: {A_B: 1}\nlist: [[1], ~, 1.5, .inf]\n")
	f.Add("0: {a: []}\n000: text\non: {a: 1}\ntrue: text\n1.0: {}\n1: text\n0x1F: {}\n31: 1\n2.0: {}\n2: text\n")
	f.Add("\ufeffa: {b: {c: {d: {e: []}}}}\r\nlabels: []\r\nenabled: \"-\"\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		chart := Files{"Chart.yaml": []byte("name: a\nversion: 1.0.0\n"), "values.yaml": []byte(text)}
		values := map[string]any{}
		for _, document := range documentMark.Split(text, -1) {
			var next map[string]any
			if safeyaml.UnmarshalJSON([]byte(document), &next) != nil {
				return // Helm does not read it
			}
			if merged, ok := mergeMaps(values, next).(map[string]any); ok && next != nil {
				values = merged
			}
		}
		crd, err := checkedCRD(chart)
		if err != nil {
			if isDefect(err) {
				t.Fatal(err)
			}
			return
		}
		if err := rejects(crd, values); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	})
}

// FuzzJSONSchema checks that any schema of a chart becomes a structural one.
func FuzzJSONSchema(f *testing.F) {
	archive := func(schema string) { f.Add(schema, "a: 1\nb: {c: text}\n") }
	archive(`{"type":"object","properties":{"a":{"type":["integer","null"],"enum":[1,null]},"b":{"$ref":"#/definitions/b"}},"definitions":{"b":{"$ref":"#"}}}`)
	archive(`{"allOf":[{"properties":{"a":{"minimum":1,"type":"number"}}},{"additionalProperties":{"type":"string"}}],"anyOf":[{"required":["a"]},true,false]}`)
	archive(`{"properties":{"b":{"oneOf":[{"type":"object","additionalProperties":false,"properties":{"c":{"const":"x"}}},{"type":"array","items":{"type":"string"}}]}}}`)
	archive(`{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"exclusiveMaximum":true,"maximum":-1e400,"multipleOf":1e-320,"pattern":"("}}}`)
	archive(`{"patternProperties":{"^a":{}},"required":["a","a",1],"additionalProperties":false,"minProperties":1,"unevaluatedProperties":false,"if":{}}`)
	archive(`true`)
	f.Fuzz(func(t *testing.T, schema, values string) {
		chart := Files{"Chart.yaml": []byte("name: a\n"), "values.yaml": []byte(values), "values.schema.json": []byte(schema)}
		if _, err := checkedCRD(chart); isDefect(err) {
			t.Fatal(err)
		}
	})
}

// isDefect reports whether an error is one of the schema and not of the chart.
func isDefect(err error) bool {
	_, ok := err.(*schemaError)
	return ok
}

// TestLargeSchemas checks the size of CRDs: kubectl apply writes them into an annotation of at most 256 KiB.
func TestLargeSchemas(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: its inputs take as long as they may")
	}
	wide, deep, list := &strings.Builder{}, &strings.Builder{}, &strings.Builder{}
	for i := range 4000 {
		fmt.Fprintf(wide, "# %s\nkey%d: text\n", strings.Repeat("A long description. ", 20), i)
	}
	for i := range 140 {
		fmt.Fprintf(deep, "%skey%d:\n", strings.Repeat(" ", i), i)
	}
	for i := range 300 {
		fmt.Fprintf(list, "part%d:\n", i)
		for j := range 10 {
			fmt.Fprintf(list, "  # %s\n  part%d: {a: {b: {c: {d: {e: {f: {g: text}}}}}}}\n", strings.Repeat("Text. ", 100), j)
		}
	}
	// Each definition has two references to the next one: expanded, they are more than any memory.
	var doubled strings.Builder
	doubled.WriteString(`{"properties": {"root": {"$ref": "#/$defs/0"}}, "$defs": {`)
	for i := range 60 {
		fmt.Fprintf(&doubled, `"%d": {"properties": {"a": {"$ref": "#/$defs/%d"}, "b": {"$ref": "#/$defs/%d"}}},`, i, i+1, i+1)
	}
	doubled.WriteString(`"60": {"type": "string"}}}`)
	for name, chart := range map[string]Files{
		"wide": {"values.yaml": []byte(wide.String())}, "deep": {"values.yaml": []byte(deep.String())}, "list": {"values.yaml": []byte(list.String())},
		"doubled": {"values.schema.json": []byte(doubled.String())},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chart["Chart.yaml"] = []byte("name: large\n")
			if _, err := checkedCRD(chart); err != nil {
				t.Fatalf("%.1000s", err)
			}
			manifest, err := CRD(CRDSpec{Group: "charts.example.com", Kind: "Sample", Plural: "samples", Versions: []CRDVersion{
				{Name: "v1", Chart: chart}, {Name: "v2", Chart: chart},
			}})
			if err != nil {
				t.Fatal(err)
			}
			const limit = 256 << 10
			if data, err := safeyaml.ToJSON(manifest); err != nil || len(data) > limit {
				t.Errorf("the CRD has %d bytes, more than %d (%v)", len(data), limit, err)
			}
		})
	}
}
