package scenario_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/scenario"
)

// fields returns the fields of a ConfigMap with more fields.
func fields(t *testing.T, text string) map[string]any {
	t.Helper()
	objects, err := kube.Decode([]byte("{apiVersion: v1, kind: ConfigMap, " + text + "}"))
	if err != nil {
		t.Fatal(err)
	}
	return objects[0].Object
}

// TestDifferences compares fields with an object.
func TestDifferences(t *testing.T) {
	t.Parallel()
	const object = `spec: {replicas: 2, share: 0.5, name: a, on: true, list: [{a: 1, b: 2}, {a: 3}], marked: [{a: 4}, {a: 5, b: x}]}, metadata: {labels: {example.com/app: web}}`
	for _, check := range []struct {
		want string
		diff []string
	}{
		{"spec: {replicas: 2}", nil},
		{"spec: {replicas: 2.0, share: 0.5, on: true}", nil},
		{"spec: {list: [{a: 1}, {a: 3}]}", nil},
		{"spec: {none: null}", nil},
		{`spec: {"(marked[?b == 'x'])": [{a: 5}]}`, nil},
		{`spec: {"(marked[?b == 'x'])": [{a: 6}]}`, []string{"spec.marked[?b == 'x'][0].a: 6, not 5"}},
		{`spec: {"(marked[?b == 'y.z'])": [{a: 5}]}`, []string{"spec.marked[?b == 'y.z']: [map[a:5]], not []"}},
		{"spec: {replicas: 3, name: b}", []string{"spec.name: b, not a", "spec.replicas: 3, not 2"}},
		{`spec: {replicas: "2"}`, []string{"spec.replicas: 2, not 2"}},
		{"spec: {list: [{a: 1}]}", []string{"spec.list: [map[a:1]], not [map[a:1 b:2] map[a:3]]"}},
		{"spec: {list: [{a: 1}, {a: 4}]}", []string{"spec.list[1].a: 4, not 3"}},
		{"spec: {name: {first: a}}", []string{"spec.name: map[first:a], not a"}},
		{"status: {ready: true}", []string{"status: map[ready:true], not <nil>"}},
		{"metadata: {labels: {example.com/app: db}}", []string{`metadata.labels["example.com/app"]: db, not web`}},
	} {
		var got []string
		for _, d := range scenario.Differences(fields(t, check.want), fields(t, object)) {
			got = append(got, fmt.Sprintf("%s: %v, not %v", d.Path, d.Want, d.Got))
		}
		if !slices.Equal(got, check.diff) {
			t.Errorf("%s:\ngot  %q\nwant %q", check.want, got, check.diff)
		}
	}
}

// TestAt follows paths.
func TestAt(t *testing.T) {
	t.Parallel()
	object := fields(t, "status: {conditions: [{type: Ready}]}")
	for _, check := range []struct {
		path []any
		text string
		want any
	}{
		{[]any{"status", "conditions", 0, "type"}, "status.conditions[0].type", "Ready"},
		{[]any{"status", "conditions", 1, "type"}, "status.conditions[1].type", nil},
		{[]any{"kind", "x"}, "kind.x", nil},
	} {
		if got := scenario.At(object, check.path); got != check.want {
			t.Errorf("%s: got %v, want %v", check.text, got, check.want)
		}
		if got := scenario.PathText(check.path); got != check.text {
			t.Errorf("got %s, want %s", got, check.text)
		}
	}
}
