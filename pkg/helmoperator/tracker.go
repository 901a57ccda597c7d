package helmoperator

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// A trackedResource is what the reconciler keeps in memory of a custom resource between its passes. Losing it costs one full pass.
type trackedResource struct {
	uid         types.UID
	generation  int64
	annotations map[string]string
	labels      map[string]string

	// nextFull is the time of the next full pass. It is zero if there is none until something changes, and light is false then.
	nextFull time.Time
	// light allows passes that only read whether objects are ready. Changes of objects of the release clear it.
	light bool
	// running is set during full passes, and failing after a failed one. Changes of objects don't add passes then: a pass changes
	// objects itself, so a failing one would be repeated without delay.
	running, failing bool
	// blocked is set while the sources of values are missing. Readiness says nothing then.
	blocked bool
	// readinessDue is set when such a pass is requested.
	readinessDue bool

	// failure is the last failed operation, and held is set while an operation isn't tried. Both may be nil.
	failure *failure
	held    *heldError

	// testPending is set until the tests of the deployed revision have been run.
	testPending bool

	// outputs are those of the deployed revision, once they are known.
	outputs *trackedOutputs

	objects []release.Object
	// secrets are the secrets of the release, which the messages of light passes must not contain.
	secrets *redactor
	// ready are the results of readiness by object. They hold as long as the resource version of the object.
	ready map[objectKey]readiness
	// waits is the number of consecutive passes in which an object was not ready.
	waits int
}

// A tracker holds the tracked resources of a reconciler.
type tracker struct {
	mu        sync.Mutex
	resources map[types.NamespacedName]*trackedResource
}

// requireFull makes the next pass of a resource a full one, after an object of its release has changed. It reports whether a pass has
// to be added to the queue.
func (t *tracker) requireFull(key types.NamespacedName) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.resources[key]
	if r == nil {
		return true
	}
	r.light = false
	return !r.running && !r.failing
}

// requestReadiness allows the next pass of a resource to only read whether objects are ready. It reports whether a pass has to be
// added to the queue.
func (t *tracker) requestReadiness(key types.NamespacedName) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.resources[key]
	if r == nil || r.failing || r.blocked || r.held != nil {
		return false
	}
	r.readinessDue = true
	return true
}

// takeLight returns the tracked state of obj if its next pass may be a light one.
func (t *tracker) takeLight(obj *unstructured.Unstructured, now time.Time) (*trackedResource, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.resources[client.ObjectKeyFromObject(obj)]
	if r == nil || r.blocked || r.held != nil || !r.light || !r.readinessDue || r.uid != obj.GetUID() || r.generation != obj.GetGeneration() {
		return nil, false
	}
	r.readinessDue = false
	if !r.nextFull.IsZero() && !now.Before(r.nextFull) ||
		!maps.Equal(r.annotations, obj.GetAnnotations()) || !maps.Equal(r.labels, obj.GetLabels()) {
		return nil, false
	}
	return r, true
}

// begin returns the state of obj for a full pass, which ends with finish.
func (t *tracker) begin(obj *unstructured.Unstructured) *trackedResource {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.resources == nil {
		t.resources = map[types.NamespacedName]*trackedResource{}
	}
	key := client.ObjectKeyFromObject(obj)
	r := t.resources[key]
	if r == nil || r.uid != obj.GetUID() {
		r = &trackedResource{uid: obj.GetUID(), ready: map[objectKey]readiness{}}
		t.resources[key] = r
	}
	r.generation, r.annotations, r.labels = obj.GetGeneration(), obj.GetAnnotations(), obj.GetLabels()
	r.light, r.readinessDue, r.running, r.blocked = true, false, true, false
	return r
}

// finish ends a full pass. It reports whether objects of the release have changed in the meantime.
func (t *tracker) finish(r *trackedResource, err error) (changed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	changed = !r.light
	r.running, r.failing = false, err != nil
	r.light = r.light && err == nil
	return changed
}

// drop removes the state of a resource.
func (t *tracker) drop(key types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.resources, key)
}
