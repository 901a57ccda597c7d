package stage_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/kube"
)

// TestUseOwners uses the permission to set the finalizers of owners whose deletion is blocked.
func TestUseOwners(t *testing.T) {
	t.Parallel()
	const status, finalizers = `{apiGroups: [batch], resources: ["*/status"]`, `{apiGroups: [batch, example.com], resources: ["*/finalizers"]`
	g := grants(t, strings.Replace(grantingManifests, status, finalizers, 1))
	objects, err := kube.Decode([]byte(`kind: Pod
apiVersion: v1
metadata:
  name: one
  namespace: a
  ownerReferences:
  - {apiVersion: batch/v1, kind: Job, name: job, uid: a, blockOwnerDeletion: true}
  - {apiVersion: example.com/v1, kind: App, name: app, uid: b, blockOwnerDeletion: true}
  - {apiVersion: example.com/v1, kind: Other, name: other, uid: c, blockOwnerDeletion: false}
  - {apiVersion: example.com/v1, kind: Other, name: other, uid: d}
`))
	if err != nil {
		t.Fatal(err)
	}
	g.UseOwners(objects[0], map[schema.GroupKind]kube.Resource{{Group: "example.com", Kind: "App"}: {Name: "irregular"}})
	if got, want := fmt.Sprint(g.Rules()[3].Used()), "[update jobs.batch/finalizers update irregular.example.com/finalizers]"; got != want {
		t.Errorf("used %s, want %s", got, want)
	}
}
