package helmoperator

import (
	"context"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// A target is what an operation works for. Another one supersedes it.
type target struct {
	uid        types.UID
	generation int64
	deleted    bool
	// sources counts the changes of the sources of values.
	sources uint64
	// metadata are the annotations, and labels if values depend on them, that have an influence on the operation.
	metadata map[string]string
}

// targetOf returns the target of an operation that starts now.
func (r *Reconciler) targetOf(obj *unstructured.Unstructured) target {
	t := target{obj.GetUID(), obj.GetGeneration(), obj.GetDeletionTimestamp() != nil, 0, map[string]string{}}
	if !t.deleted {
		t.sources = r.sources.Changes(client.ObjectKeyFromObject(obj))
	}
	for key, value := range obj.GetAnnotations() {
		if key != AnnotationOperator && (r.translator != nil || strings.HasPrefix(key, annotationPrefix)) {
			t.metadata[key] = value
		}
	}
	if r.translator != nil {
		for key, value := range obj.GetLabels() {
			t.metadata["label "+key] = value
		}
	}
	return t
}

func (t target) equals(other target) bool {
	return t.uid == other.uid && t.generation == other.generation && t.deleted == other.deleted && t.sources == other.sources && maps.Equal(t.metadata, other.metadata)
}

// continueOperation continues the operation of a resource that waits, if there is one. If the resource has changed, it ends the
// operation instead; obj is nil if the resource is gone. It reports whether the pass is over.
func (r *Reconciler) continueOperation(ctx context.Context, key types.NamespacedName, obj *unstructured.Unstructured) (result reconcile.Result, over bool, err error) {
	op, ready := r.operations.find(key)
	if op == nil {
		return reconcile.Result{}, false, nil
	}
	if obj != nil && op.target.equals(r.targetOf(obj)) {
		if r.kind.IsResponsible(obj, isFinalizer) {
			if ready {
				result, err = op.resume()
			}
			return result, true, err
		}
	}
	log.FromContext(ctx).Info("ending the wait, as the resource has changed")
	if err := op.supersede(ctx); err != nil {
		return reconcile.Result{}, true, err
	}
	return reconcile.Result{}, false, nil
}

// await writes to the status what an operation waits for, and waits.
func (r *Reconciler) await(ctx context.Context, op *operation, obj *unstructured.Unstructured, change *statusChange, w release.Waiting, until func() error) error {
	reason := ReasonWaitingForCRD
	if w.Hook != "" {
		reason = ReasonWaitingForHook
	}
	message := "waiting for " + w.String()
	change.set(condition{ConditionReady, metav1.ConditionFalse, reason, message})
	if obj.GetDeletionTimestamp() != nil {
		change.set(condition{ConditionDeletionBlocked, metav1.ConditionTrue, reason, message})
	}
	if err := r.writeStatus(ctx, obj, change); err != nil {
		log.FromContext(ctx).Error(err, "cannot write what the release waits for to the status")
	}
	log.FromContext(ctx).Info("waiting for "+w.String(), "release", obj.GetName())
	defer r.metrics.observeWait(r.kind.GVK, w)()
	return op.wait(until)
}
