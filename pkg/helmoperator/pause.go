package helmoperator

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/customresource"
)

// pauseOrResume reports whether an annotation pauses obj, and writes the begin and the end of a pause to its status.
func (r *Reconciler) pauseOrResume(ctx context.Context, obj *unstructured.Unstructured) (paused bool, err error) {
	if paused, _ := customresource.IsPaused(obj, AnnotationPaused); paused && obj.GetDeletionTimestamp() != nil && !hasFinalizer(obj) {
		return true, nil // others finalize it
	}
	more := func(obj *unstructured.Unstructured) map[string]string {
		if obj.GetDeletionTimestamp() == nil {
			return nil
		}
		return map[string]string{ConditionDeletionBlocked: "True"}
	}
	return r.kind.PauseOrResume(ctx, obj, AnnotationPaused, more, func(reason, message string) {
		r.emit(obj, corev1.EventTypeNormal, reason, message)
	})
}
