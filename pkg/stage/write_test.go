package stage_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/operon-sdk/operon/pkg/stage"
)

func TestChangedFields(t *testing.T) {
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
			"metadata.labels.l", "spec.gone", "spec.list", "spec.map.w", "spec.replicas", "status.conditions[0].message",
		}},
		{stage.Change{Before: decodeOne(t, before), After: decodeOne(t, before)}, nil},
		{stage.Change{After: decodeOne(t, "{apiVersion: v1, kind: A, metadata: {name: a}}")}, []string{"apiVersion", "kind", "metadata.name"}},
	} {
		if got := test.change.ChangedFields(); !slices.Equal(got, test.want) {
			t.Errorf("got %s, want %s", fmt.Sprintf("%q", got), fmt.Sprintf("%q", test.want))
		}
	}
}
