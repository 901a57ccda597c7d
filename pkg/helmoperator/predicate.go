package helmoperator

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// primaryPredicate ignores updates of custom resources that change only their status or their finalizers, as those of the reconciler.
func primaryPredicate() predicate.TypedPredicate[*unstructured.Unstructured] {
	return predicate.TypedFuncs[*unstructured.Unstructured]{
		UpdateFunc: func(e event.TypedUpdateEvent[*unstructured.Unstructured]) bool {
			before, after := e.ObjectOld, e.ObjectNew
			return before.GetUID() != after.GetUID() || before.GetGeneration() != after.GetGeneration() ||
				!maps.Equal(before.GetAnnotations(), after.GetAnnotations()) || !maps.Equal(before.GetLabels(), after.GetLabels()) ||
				(before.GetDeletionTimestamp() == nil) != (after.GetDeletionTimestamp() == nil)
		},
	}
}
