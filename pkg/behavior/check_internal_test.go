package behavior

import (
	"testing"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/scenario"
)

// decode returns objects of a text, which are ConfigMaps with more fields.
func decode(t *testing.T, texts ...string) (objects []*kube.Object) {
	t.Helper()
	for _, text := range texts {
		decoded, err := kube.Decode([]byte("{apiVersion: v1, kind: ConfigMap, " + text + "}"))
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, decoded...)
	}
	return objects
}

// TestChecks checks what findings say about objects.
func TestChecks(t *testing.T) {
	t.Parallel()
	one := "metadata: {name: one}, spec: {size: 1, list: [1, 2]}, status: {conditions: [{type: Ready, status: 'False'}]}"
	two := "metadata: {name: two}, spec: {size: 2, x: a}"
	like := func(want string) *diag.Finding {
		return unlike(scenario.Object{Object: decode(t, want)[0]}, decode(t, one, two))
	}
	not := func(unwanted string) *diag.Finding {
		return unexpected(scenario.Object{Object: decode(t, unwanted)[0]}, decode(t, one, two))
	}
	wait := func(goal scenario.For, texts ...string) *diag.Finding {
		return awaited(scenario.Object{Object: decode(t, "metadata: {name: one}")[0]}, decode(t, texts...), goal)
	}
	n := []any{"spec", "size"}
	for name, check := range map[string]struct {
		failure *diag.Finding
		want    string
	}{
		"one of two is like it":       {like("spec: {size: 2}"), ""},
		"the one that differs least":  {like("metadata: {name: two}, spec: {size: 3}"), "configmap two spec.size: is 2, and must be 3"},
		"more differences":            {like("spec: {size: 3, x: a, z: b}"), `configmap two spec.size: is 2, and must be 3 (1 more difference)`},
		"missing":                     {like("spec: {size: 2, x: a, z: b}"), `configmap two spec.z: is missing, and must be "b"`},
		"length of a list":            {like("spec: {size: 1, list: [1]}"), "configmap one spec.list: has 2 elements, and must have 1"},
		"none is like it":             {not("spec: {size: 3}"), ""},
		"one is like it":              {not("spec: {size: 2}"), "configmap two : exists with these fields, and must not"},
		"condition":                   {wait(scenario.For{Condition: "Ready", Value: "false"}, one), ""},
		"another status":              {wait(scenario.For{Condition: "Ready", Value: "True"}, one), `configmap one condition Ready: is "False", and must be "True"`},
		"no condition":                {wait(scenario.For{Condition: "Ready", Value: "True"}, two), "configmap two condition Ready: is missing"},
		"all must have the condition": {wait(scenario.For{Condition: "Ready", Value: "False"}, one, two), "configmap two condition Ready: is missing"},
		"value":                       {wait(scenario.For{Path: n, Value: "1"}, one), ""},
		"any value":                   {wait(scenario.For{Path: n}, one, two), ""},
		"another value":               {wait(scenario.For{Path: n, Value: "1"}, one, two), `configmap two spec.size: is "2", and must be "1"`},
	} {
		got := ""
		if f := check.failure; f != nil {
			got = f.Object + " " + f.Field + ": " + f.Problem
		}
		if got != check.want {
			t.Errorf("%s: got %q, want %q", name, got, check.want)
		}
	}
}
