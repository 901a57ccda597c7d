package helmoperator

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/customresource"
)

// pauseOrResume reports whether an annotation pauses obj, and writes the begin and the end of a pause to its status. A resource whose
// annotation is invalid is not paused, but its pass fails before it changes anything.
func (r *Reconciler) pauseOrResume(ctx context.Context, obj *unstructured.Unstructured) (paused bool, err error) {
	paused, invalid := customresource.IsPaused(obj, AnnotationPaused)
	if invalid != nil {
		return false, nil
	}
	if !paused {
		ends, err := r.kind.Resume(ctx, obj)
		if ends {
			r.emit(obj, corev1.EventTypeNormal, EventResumed, "The annotation "+AnnotationPaused+" no longer pauses the resource")
		}
		return false, err
	}
	if obj.GetDeletionTimestamp() != nil && !hasFinalizer(obj) {
		return true, nil // others finalize it
	}
	begins, err := r.kind.Pause(ctx, obj, AnnotationPaused, func(obj *unstructured.Unstructured) map[string]string {
		if obj.GetDeletionTimestamp() == nil {
			return nil
		}
		return map[string]string{ConditionDeletionBlocked: "True"}
	})
	if begins {
		r.emit(obj, corev1.EventTypeNormal, EventPaused, "The annotation "+AnnotationPaused+" pauses the resource")
	}
	return true, err
}
