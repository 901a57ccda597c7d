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
			var err error
			if s[name], err = state(o); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	const deleted = `, deletionTimestamp: "2026-01-01T00:00:00Z"`
	before := take(map[string]*kube.Object{
		"same": written("", "user"), "conditions": written("", "kube-apiserver"), "gone": written("", "kube-apiserver"), "terminating": written("", "kube-controller-manager"),
		"written": written("", "kube-controller-manager"), "replaced": written("", "user"),
	})
	after := take(map[string]*kube.Object{
		"same": written("", "user"), "conditions": written("", "kube-controller-manager"), "terminating": written(deleted, "kube-controller-manager"),
		"written": written("", "user"), "replaced": written("2", "user"), "lease": written("", "kube-apiserver"), "new": written("", "user"),
	})
	want := []string{"deleted gone", "created new", "changed replaced", "changed terminating", "changed written"}
	var got []string
	for _, change := range before.Changes(after) {
		line, _, _ := strings.Cut(change, "\n")
		got = append(got, line)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
