package ansibleoperator

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/customresource"
)

// The reasons of events.
const (
	// EventPaused and EventResumed are emitted when the condition Paused becomes True and is removed.
	EventPaused, EventResumed = customresource.EventPaused, customresource.EventResumed
)

// pauseOrResume reports whether an annotation pauses obj, and writes the begin and the end of a pause to its status. A resource whose
// annotation is invalid is not paused, but its pass fails before the run.
func (r *Reconciler) pauseOrResume(ctx context.Context, obj *unstructured.Unstructured) (paused bool, err error) {
	paused, invalid := customresource.IsPaused(obj, AnnotationPaused)
	switch {
	case invalid != nil:
		return false, nil
	case paused:
		begins, err := r.kind.Pause(ctx, obj, AnnotationPaused, func(obj *unstructured.Unstructured) map[string]string {
			// No run of the resource is in progress here. The process that wrote this was killed during one.
			if running := customresource.ReadCondition(obj, ConditionRunning); running["status"] == "True" && running["reason"] == ReasonRunning {
				return map[string]string{ConditionRunning: "False"}
			}
			return nil
		})
		if begins {
			r.events.Event(obj, corev1.EventTypeNormal, EventPaused, "The annotation "+AnnotationPaused+" pauses the resource")
		}
		return true, err
	}
	ends, err := r.kind.Resume(ctx, obj)
	if ends {
		r.events.Event(obj, corev1.EventTypeNormal, EventResumed, "The annotation "+AnnotationPaused+" no longer pauses the resource")
	}
	return false, err
}
