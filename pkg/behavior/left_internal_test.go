package behavior

import (
	"slices"
	"testing"

	"github.com/operon-sdk/operon/pkg/kube"
)

// TestLeftovers checks what counts as left.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	objects, err := kube.Decode([]byte(`
{apiVersion: v1, kind: ConfigMap, metadata: {name: made, uid: made}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: known, uid: known}}
---
{apiVersion: v1, kind: Secret, metadata: {name: stuck, uid: stuck, deletionTimestamp: "2026-01-01T00:00:00Z", ownerReferences: [{uid: made}]}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: owned, uid: owned, ownerReferences: [{uid: made}]}}
---
{apiVersion: v1, kind: Secret, metadata: {name: garbage, uid: garbage, ownerReferences: [{uid: gone}]}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, uid: data}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: kube-root-ca.crt, uid: made}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: as.example.com, uid: crd}}
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range leftovers(objects, map[string]bool{"known": true}, map[string]bool{"made": true, "owned": true, "known": true, "garbage": true, "crd": true}) {
		got = append(got, o.GetName())
	}
	if want := []string{"made", "stuck", "garbage"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
