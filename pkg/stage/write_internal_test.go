package stage

import (
	"testing"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
)

// TestIsBesides checks which changes were made by somebody else, although a write is answered with their version: if a patch changes
// nothing, its answer has the version that a controller of Kubernetes has just made.
func TestIsBesides(t *testing.T) {
	t.Parallel()
	version := func(fields string) *kube.Object {
		objects, err := kube.Decode([]byte("{apiVersion: apps/v1, kind: StatefulSet, " + fields + "}"))
		if err != nil {
			t.Fatal(err)
		}
		return objects[0]
	}
	const separate = "metadata: {name: a, managedFields: [{manager: m, subresource: status}]}, "
	const combined = "metadata: {name: a, managedFields: [{manager: m}]}, "
	for name, test := range map[string]struct {
		before, after, subresource string
		want                       bool
	}{
		"status of a controller":   {separate + "status: {ready: 1}", separate + "status: {ready: 2}", "", true},
		"first status":             {separate + "spec: {}", separate + "spec: {}, status: {ready: 2}", "", true},
		"write of the status":      {separate + "status: {ready: 1}", separate + "status: {ready: 2}", "status", false},
		"field with the status":    {separate + "status: {ready: 1}", separate + "spec: {a: 1}, status: {ready: 2}", "", false},
		"status in the object":     {combined + "status: {ready: 1}", combined + "status: {ready: 2}", "", false},
		"created with a status":    {"", separate + "status: {ready: 2}", "", false},
		"owner of a field":         {combined + "spec: {}", separate + "spec: {}", "", false},
		"field that looks like it": {separate + "statuses: 1", separate + "statuses: 2", "", false},
	} {
		c := Change{After: version(test.after)}
		if test.before != "" {
			c.Before = version(test.before)
		}
		if got := c.isBesides(gateway.Record{Request: gateway.Request{Subresource: test.subresource}}); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
