package snapshot

import (
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/kube"
)

func TestChanges(t *testing.T) {
	t.Parallel()
	written := func(extra, manager string) *kube.Object {
		objects, err := kube.Decode([]byte(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: u` + extra + `, managedFields: [{manager: ` + manager + `, time: "2026-01-01T00:00:00Z"}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		return objects[0]
	}
	take := func(objects map[string]*kube.Object) Snapshot {
		s := Snapshot{}
		for name, o := range objects {
			if err := s.add(name, o); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	const deleted = `, deletionTimestamp: "2026-01-01T00:00:00Z"`
	node := written("", "operon")
	node.SetKind("Lease")
	renewed := written("", "other")
	renewed.SetKind("Lease")
	before := take(map[string]*kube.Object{
		"same": written("", "user"), "conditions": written("", "kube-apiserver"), "ended": written("", "kube-apiserver"), "gone": written("", "user"), "terminating": written("", "user"),
		"written": written("", "kube-controller-manager"), "replaced": written("", "user"), "node": node,
	})
	after := take(map[string]*kube.Object{
		"same": written("", "user"), "conditions": written("", "kube-controller-manager"), "terminating": written(deleted, "user"),
		"written": written("", "user"), "replaced": written("2", "user"), "lease": written("", "kube-apiserver"), "new": written("", "user"), "node": renewed,
	})
	want := []string{"deleted gone", "created new", "changed replaced", "changed terminating", "created written"}
	var got []string
	for _, change := range before.Changes(after) {
		line, _, _ := strings.Cut(change, "\n")
		got = append(got, line)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
