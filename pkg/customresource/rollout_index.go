package customresource

import (
	"context"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// statusRollout is the key of the status with the RolloutState.
const statusRollout = "rollout"

// A RolloutState is what the status of a resource says about rollouts.
type RolloutState struct {
	// Digest is the version to which the resource was upgraded last, successfully or not; empty if nothing is known.
	Digest string
	// Generation is the one of the resource when it was upgraded or changed last.
	Generation int64
	// InProgress is set from the begin of the upgrade until the resource is ready.
	InProgress bool
}

// ReadRollout returns what the status of obj says.
func ReadRollout(obj *unstructured.Unstructured) (s RolloutState) {
	status, _, _ := unstructured.NestedMap(obj.Object, "status", statusRollout)
	s.Digest, _ = status["digest"].(string)
	s.Generation, _ = status["generation"].(int64)
	s.InProgress, _ = status["inProgress"].(bool)
	return s
}

// IsChanged reports whether obj has changed since the state was written. If nothing is known, the generation that the status is about
// counts.
func (s RolloutState) IsChanged(obj *unstructured.Unstructured) bool {
	generation := s.Generation
	if s.Digest == "" {
		observed, found, _ := unstructured.NestedInt64(obj.Object, "status", "observedGeneration")
		if generation = observed; !found {
			return false
		}
	}
	return generation != obj.GetGeneration()
}

// AddTo adds the state to a merge patch of the status of obj, if it differs. The zero value removes it.
func (s RolloutState) AddTo(patch map[string]any, obj *unstructured.Unstructured) {
	_, exists, _ := unstructured.NestedFieldNoCopy(obj.Object, "status", statusRollout)
	switch {
	case s == RolloutState{} && exists:
		patch[statusRollout] = nil
	case s != ReadRollout(obj):
		state := map[string]any{"digest": s.Digest, "generation": s.Generation, "inProgress": nil}
		if s.InProgress {
			state["inProgress"] = true
		}
		patch[statusRollout] = state
	}
}

// A rolloutResource is what a Rollout knows of a resource.
type rolloutResource struct {
	uid     types.UID
	version uint64 // of the resource; 0 if it isn't a number
	// These are read from the resource.
	state                                      RolloutState
	deployed, deleted, paused, running, failed bool
	// reserved is set from the turn of the resource to the end of the pass.
	reserved bool
	// waiting is set while the resource waits for its turn, and called after it was notified of it.
	waiting, called bool
	// visited is the version for which a pass has ended.
	visited string
}

// A rolloutPhase is how far a resource is.
type rolloutPhase struct{ outdated, busy, failed bool }

func (r *Rollout) phaseOf(resource *rolloutResource) rolloutPhase {
	upgrading := resource.state.Digest == r.digest && resource.state.InProgress
	switch {
	case resource.reserved:
		return rolloutPhase{busy: true, failed: upgrading && resource.failed}
	case resource.deleted || resource.paused || r.digest == "":
		return rolloutPhase{}
	case upgrading:
		return rolloutPhase{busy: resource.running || !resource.failed, failed: resource.failed}
	case resource.state.Digest == r.digest || resource.state.Digest == "" && !resource.deployed && !resource.waiting:
		return rolloutPhase{}
	}
	return rolloutPhase{outdated: true}
}

// update reads obj, unless a newer one is known. What the selector excludes belongs to another operator. Only events add resources:
// a resource whose status was written may be gone already.
func (r *Rollout) update(obj *unstructured.Unstructured, add bool) {
	key := client.ObjectKeyFromObject(obj)
	resource := r.resources[key]
	version, _ := strconv.ParseUint(obj.GetResourceVersion(), 10, 64)
	switch known := resource != nil && resource.uid == obj.GetUID(); {
	case known && version < resource.version:
		return
	case !r.kind.Matches(obj):
		delete(r.resources, key)
		return
	case !known && !add:
		return
	case !known:
		resource = &rolloutResource{uid: obj.GetUID()}
		r.resources[key] = resource
	}
	resource.version, resource.state = version, ReadRollout(obj)
	resource.deleted, resource.deployed = obj.GetDeletionTimestamp() != nil, r.IsDeployed(obj)
	resource.running, resource.failed = r.Progress(obj)
	resource.paused, _ = IsPaused(obj, r.PausedBy)
}

// list reads all resources, once: the first events come one after the other. The caller has read one from the cache, so it is complete.
func (r *Rollout) list(ctx context.Context) error {
	if r.listed {
		return nil
	}
	all := &unstructured.UnstructuredList{}
	all.SetGroupVersionKind(r.kind.GVK.GroupVersion().WithKind(r.kind.GVK.Kind + "List"))
	if err := r.kind.Cache.List(ctx, all, client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	for i := range all.Items {
		if r.resources[client.ObjectKeyFromObject(&all.Items[i])] == nil {
			r.update(&all.Items[i], true)
		}
	}
	r.listed = true
	return nil
}

// rolloutEvents is a predicate that keeps the index. It accepts all events.
type rolloutEvents struct{ *Rollout }

func (r rolloutEvents) set(obj *unstructured.Unstructured) bool {
	r.mu.Lock()
	r.update(obj, true)
	r.notifyAndUnlock()
	return true
}

// Create implements predicate.TypedPredicate.
func (r rolloutEvents) Create(e event.TypedCreateEvent[*unstructured.Unstructured]) bool {
	return r.set(e.Object)
}

// Update implements predicate.TypedPredicate.
func (r rolloutEvents) Update(e event.TypedUpdateEvent[*unstructured.Unstructured]) bool {
	return r.set(e.ObjectNew)
}

// Delete implements predicate.TypedPredicate.
func (r rolloutEvents) Delete(e event.TypedDeleteEvent[*unstructured.Unstructured]) bool {
	r.mu.Lock()
	delete(r.resources, client.ObjectKeyFromObject(e.Object))
	r.notifyAndUnlock()
	return true
}

// Generic implements predicate.TypedPredicate.
func (r rolloutEvents) Generic(event.TypedGenericEvent[*unstructured.Unstructured]) bool { return true }

// startRollout counts the resources of a rollout while ctx lasts.
func (c *Census) startRollout(ctx context.Context, r *Rollout) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rollouts[r] = true
	context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.rollouts, r)
	})
}

// collectRollouts adds the metrics of rollouts. Several controllers of a process can share a kind.
func (c *Census) collectRollouts(metrics chan<- prometheus.Metric) {
	type series struct{ group, version, kind, state string }
	numbers := map[series]int{}
	for r := range c.rollouts {
		count := func(state string, n int) {
			numbers[series{r.kind.GVK.Group, r.kind.GVK.Version, r.kind.GVK.Kind, state}] += n
		}
		outdated, upgrading, failed := r.numbers()
		count("outdated", outdated)
		count("upgrading", upgrading)
		count("failed", failed)
	}
	for s, n := range numbers {
		metrics <- prometheus.MustNewConstMetric(c.rollout, prometheus.GaugeValue, float64(n), s.group, s.version, s.kind, s.state)
	}
}

func (r *Rollout) numbers() (outdated, upgrading, failed int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, resource := range r.resources {
		switch phase := r.phaseOf(resource); {
		case phase.failed:
			failed++
		case phase.busy:
			upgrading++
		case phase.outdated:
			outdated++
		}
	}
	return outdated, upgrading, failed
}
