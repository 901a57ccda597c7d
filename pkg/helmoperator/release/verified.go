package release

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// verifiedStates are the states in which objects were compared with a manifest. They are not changed, but replaced.
type verifiedStates map[verifiedKey]verifiedState

type verifiedKey struct {
	schema.GroupVersionKind
	namespace, name string
}

func keyOfVerified(object Object) verifiedKey {
	return verifiedKey{object.GroupVersionKind, object.Namespace, object.Name}
}

// A verifiedState is the record that an object was compared with, the hash of the live object, and the fields that differed.
type verifiedState struct {
	record string
	live   [sha256.Size]byte
	// drift is empty unless the mode is DriftWarn.
	drift []string
}

// liveHash returns the hash of the metadata that change whenever a repair may be necessary. The generation changes with the spec,
// unlike the resource version, which also changes with the status. Objects without generation have no status.
func liveHash(metadata metav1.Object) [sha256.Size]byte {
	version := fmt.Sprintf("generation %d", metadata.GetGeneration())
	if metadata.GetGeneration() == 0 {
		version = "resource version " + metadata.GetResourceVersion()
	}
	owners, _ := json.Marshal(metadata.GetOwnerReferences()) // they contain pointers
	return sha256.Sum256(fmt.Appendf(nil, "%s %s %v %q %q %s", metadata.GetUID(), version, metadata.GetDeletionTimestamp(),
		metadata.GetLabels(), metadata.GetAnnotations(), owners))
}
