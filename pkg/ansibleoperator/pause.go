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

// pauseOrResume reports whether an annotation pauses obj, and writes the begin and the end of a pause to its status.
func (r *Reconciler) pauseOrResume(ctx context.Context, obj *unstructured.Unstructured) (paused bool, err error) {
	more := func(obj *unstructured.Unstructured) map[string]string {
		// No run of the resource is in progress here. The process that wrote this was killed during one.
		if running := customresource.ReadCondition(obj, ConditionRunning); running["status"] == "True" && running["reason"] == ReasonRunning {
			return map[string]string{ConditionRunning: "False"}
		}
		return nil
	}
	return r.kind.PauseOrResume(ctx, obj, AnnotationPaused, more, func(reason, message string) {
		r.events.Event(obj, corev1.EventTypeNormal, reason, message)
	})
}
