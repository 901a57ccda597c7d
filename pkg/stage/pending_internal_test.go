package stage

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/kube"
)

// TestPending waits for what controllers always do, and not for what may stay so.
func TestPending(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		"{kind: Pod, apiVersion: v1, metadata: {name: a}, spec: {nodeName: node}, status: {phase: Pending}}":                                         "pod a is starting or stopping",
		"{kind: Pod, apiVersion: v1, metadata: {name: a}, status: {phase: Pending}}":                                                                 "",
		"{kind: Pod, apiVersion: v1, metadata: {name: a, deletionTimestamp: '2026-01-01T00:00:00Z'}}":                                                "pod a is starting or stopping",
		"{kind: Pod, apiVersion: v1, metadata: {name: a, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [example.com/f]}}":                   "",
		"{kind: Namespace, apiVersion: v1, metadata: {name: a, deletionTimestamp: '2026-01-01T00:00:00Z'}}":                                          "namespace a is being deleted",
		"{kind: Deployment, apiVersion: apps/v1, metadata: {name: a, generation: 2}, status: {observedGeneration: 1}}":                               "deployment a has changed, and its controller has not seen it",
		"{kind: Deployment, apiVersion: apps/v1, metadata: {name: a, generation: 2}, status: {observedGeneration: 2}}":                               "",
		"{kind: App, apiVersion: example.com/v1, metadata: {name: a, generation: 2}, status: {observedGeneration: 1}}":                               "",
		"{kind: Secret, apiVersion: v1, metadata: {name: a, ownerReferences: [{kind: App, name: b, uid: gone}]}}":                                    "secret a waits for the garbage collector, since App b is gone",
		"{kind: Secret, apiVersion: v1, metadata: {name: a, ownerReferences: [{kind: App, name: b, uid: gone}, {kind: App, name: c, uid: exists}]}}": "",
		"{kind: Secret, apiVersion: v1, metadata: {name: a, deletionTimestamp: '2026-01-01T00:00:00Z', ownerReferences: [{kind: App, uid: gone}]}}":  "",
	} {
		data, err := yaml.YAMLToJSON([]byte(object))
		if err != nil {
			t.Fatal(err)
		}
		o := &kube.Object{}
		if err := o.UnmarshalJSON(data); err != nil {
			t.Fatal(err)
		}
		h := &History{current: map[string]*kube.Object{"object": o, "exists": {}}}
		if got := h.pending(&Settling{}); got != want {
			t.Errorf("%s: got %q, want %q", object, got, want)
		}
	}
}
