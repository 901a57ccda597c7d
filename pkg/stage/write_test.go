package stage_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/operon-sdk/operon/pkg/stage"
)

func TestDifferences(t *testing.T) {
	t.Parallel()
	const before = `{apiVersion: v1, kind: A, metadata: {name: a, resourceVersion: "1", generation: 1, managedFields: [{manager: a}]},
 spec: {replicas: 1, list: [a, b], map: {x: 1, w: 2}, gone: 1}, status: {conditions: [{type: Ready, message: old}]}}`
	const after = `{apiVersion: v1, kind: A, metadata: {name: a, resourceVersion: "2", generation: 2, managedFields: [{manager: b}], labels: {l: m}},
 spec: {replicas: 2, list: [a], map: {x: 1, w: 3}}, status: {conditions: [{type: Ready, message: new}]}}`
	for _, test := range []struct {
		change stage.Change
		want   []string
	}{
		{stage.Change{Before: decodeOne(t, before), After: decodeOne(t, after)}, []string{
			"metadata.labels.l: <nil> m", "spec.gone: 1 <nil>", "spec.list: [a b] [a]", "spec.map.w: 2 3", "spec.replicas: 1 2", "status.conditions[0].message: old new",
		}},
		{stage.Change{Before: decodeOne(t, before), After: decodeOne(t, before)}, nil},
		{stage.Change{After: decodeOne(t, "{apiVersion: v1, kind: A, metadata: {name: a}}")}, []string{"apiVersion: <nil> v1", "kind: <nil> A", "metadata.name: <nil> a"}},
	} {
		var got []string
		for _, d := range test.change.Differences() {
			got = append(got, fmt.Sprintf("%s: %v %v", d.Path, d.Before, d.After))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
