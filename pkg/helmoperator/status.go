package helmoperator

import (
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/outputs"
)

// statusDeployedRelease is the key of the status that describes the release.
const statusDeployedRelease = "deployedRelease"

// A statusChange is what one pass changes in the status of a custom resource.
type statusChange struct {
	// conditions are set, in the order of their types; a nil value removes a condition.
	conditions map[string]*condition
	// release is the content of status.deployedRelease if it is not nil; if it is empty, the key is removed.
	release map[string]any
	// failure is the same for status.failedRelease.
	failure map[string]any
	// outputs are the content of status.outputs; nil leaves it as it is.
	outputs *outputs.Values
	// handled is the value of AnnotationReconcileRequestedAt that the pass is for, or empty.
	handled string
	// rollout is the content of status.rollout if it is not nil.
	rollout *customresource.RolloutState
}

func newStatusChange() *statusChange {
	return &statusChange{conditions: map[string]*condition{}}
}

func (s *statusChange) set(c condition) { s.conditions[c.kind] = &c }
func (s *statusChange) remove(kinds ...string) {
	for _, kind := range kinds {
		s.conditions[kind] = nil
	}
}

// patch returns the status in the merge patch that applies the change to obj. It is empty if the status of obj is already as it should be.
func (s *statusChange) patch(obj *unstructured.Unstructured, now time.Time) map[string]any {
	old, _, _ := unstructured.NestedMap(obj.Object, "status")
	conditions, _ := old["conditions"].([]any)
	for _, kind := range slices.Sorted(maps.Keys(s.conditions)) {
		if c := s.conditions[kind]; c != nil {
			conditions = setCondition(conditions, *c, obj.GetGeneration(), now)
		} else {
			conditions = customresource.RemoveCondition(conditions, kind)
		}
	}
	written := customresource.StatusPatch(obj, obj.GetGeneration(), conditions)
	if s.release != nil {
		if change := releaseChange(old[statusDeployedRelease], s.release); change != nil {
			written[statusDeployedRelease] = change.value
		}
	}
	if s.failure != nil {
		if change := releaseChange(old[statusFailedRelease], s.failure); change != nil {
			written[statusFailedRelease] = change.value
		}
	}
	if s.outputs != nil {
		s.outputs.AddTo(written, old)
	}
	if s.handled != "" && s.handled != old[customresource.StatusHandled] {
		written[customresource.StatusHandled] = s.handled
	}
	s.patchRollout(written, obj)
	return written
}

// A keyChange is the new value of a key in a merge patch; nil removes the key.
type keyChange struct{ value any }

// releaseChange returns what a merge patch has to contain to turn old into release, or nil if they are equal.
func releaseChange(old any, release map[string]any) *keyChange {
	before, _ := old.(map[string]any)
	switch {
	case len(release) == 0 && old == nil, len(release) > 0 && equality.Semantic.DeepEqual(before, release):
		return nil
	case len(release) == 0:
		return &keyChange{}
	}
	merged := maps.Clone(release)
	for key := range before {
		if _, kept := release[key]; !kept {
			merged[key] = nil
		}
	}
	return &keyChange{merged}
}

// writeStatus applies a change to the status of obj and updates obj, if it differs. After a conflict, the change is applied to the
// current object, unless that has another generation: the next pass will handle it. A missing object is not an error.
func (r *Reconciler) writeStatus(ctx context.Context, obj *unstructured.Unstructured, change *statusChange) error {
	generation := obj.GetGeneration()
	var handled string
	err := r.kind.PatchStatus(ctx, obj, func(current *unstructured.Unstructured) map[string]any {
		if handled = ""; current.GetGeneration() != generation {
			return nil
		}
		handled = change.handled
		return change.patch(current, r.kind.Now())
	})
	if err == nil {
		r.kind.SetHandled(obj, handled)
		r.kind.Rollout.Written(obj)
	}
	return err
}
