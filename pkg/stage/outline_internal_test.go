package stage

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-sdk/operon/pkg/kube"
)

// TestOutline keeps the first versions of an object and the last two as a whole, and of all others what identifies them.
func TestOutline(t *testing.T) {
	t.Parallel()
	h := &History{now: time.Now, current: map[string]*kube.Object{}, kept: newKept()}
	const versions = maxVersions + 100
	for i := range versions {
		for _, name := range []string{"one", "two"} {
			o := kube.Named("v1", "ConfigMap", "a", name)
			o.SetUID(types.UID(name))
			o.SetResourceVersion(fmt.Sprint(name, i))
			o.Object["data"] = map[string]any{"n": fmt.Sprint(i)}
			h.add(o, false)
		}
	}
	changes := h.Changes(0)
	if len(changes) != 2*versions {
		t.Fatalf("%d changes", len(changes))
	}
	for i, c := range changes {
		n := i / 2
		whole := n < maxVersions || n == versions-1
		if c.Outlined == whole || (c.After.Object["data"] != nil) != whole {
			t.Fatalf("version %d: outlined %t: %v", n, c.Outlined, c.After)
		}
		if want := fmt.Sprint([]string{"one", "two"}[i%2], n); c.After.GetResourceVersion() != want {
			t.Fatalf("version %q, want %q", c.After.GetResourceVersion(), want)
		}
		if n > 0 && whole && len(c.Differences()) == 0 || !whole && len(c.Differences()) > 0 {
			t.Fatalf("version %d: differences %v", n, c.Differences())
		}
	}
}
