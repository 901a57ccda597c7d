package dependents

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IsSpecChange reports whether an update of an object changed more than its status. Kinds without a generation have no status that
// changes often.
func IsSpecChange(before, after *metav1.PartialObjectMetadata) bool {
	return before.UID != after.UID || before.Generation != after.Generation ||
		before.Generation == 0 && before.ResourceVersion != after.ResourceVersion ||
		(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) ||
		!maps.Equal(before.Labels, after.Labels) || !maps.Equal(before.Annotations, after.Annotations) ||
		!equality.Semantic.DeepEqual(before.OwnerReferences, after.OwnerReferences)
}
