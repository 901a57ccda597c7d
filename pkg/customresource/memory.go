package customresource

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// StatusHandled is the key of the status with the last value of an annotation that requests a pass for which there was one.
const StatusHandled = "lastHandledReconcileAt"

// A memory is what a process remembers of resources, in addition to their statuses, which others can write, and from which schemas can
// drop fields.
type memory struct {
	mu        sync.Mutex
	resources map[types.NamespacedName]*remembered
}

type remembered struct {
	uid     types.UID
	paused  bool
	handled string
}

// of returns what is remembered of obj. The caller has locked m.
func (m *memory) of(obj *unstructured.Unstructured) *remembered {
	if m.resources == nil {
		m.resources = map[types.NamespacedName]*remembered{}
	}
	key := client.ObjectKeyFromObject(obj)
	r := m.resources[key]
	if r == nil || r.uid != obj.GetUID() {
		r = &remembered{uid: obj.GetUID()}
		m.resources[key] = r
	}
	return r
}

func (m *memory) setPaused(obj *unstructured.Unstructured, paused bool) (changed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(obj)
	changed = r.paused != paused
	r.paused = paused
	return changed
}

// Requested returns the value of an annotation of obj that requests a pass, or "" if there was one for it already.
func (k *Kind) Requested(obj *unstructured.Unstructured, annotation string) string {
	requested := obj.GetAnnotations()[annotation]
	if handled, _, _ := unstructured.NestedString(obj.Object, "status", StatusHandled); handled == requested {
		return ""
	}
	k.memory.mu.Lock()
	defer k.memory.mu.Unlock()
	if k.memory.of(obj).handled == requested {
		return ""
	}
	return requested
}

// SetHandled remembers the value of an annotation for which there was a pass, after it was written to the status. Empty is none.
func (k *Kind) SetHandled(obj *unstructured.Unstructured, requested string) {
	if requested == "" {
		return
	}
	k.memory.mu.Lock()
	defer k.memory.mu.Unlock()
	k.memory.of(obj).handled = requested
}

// Forget forgets a resource that no longer exists.
func (k *Kind) Forget(key types.NamespacedName) {
	k.Operator.forget(key)
	k.memory.mu.Lock()
	defer k.memory.mu.Unlock()
	delete(k.memory.resources, key)
}
