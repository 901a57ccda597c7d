package release

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// verifiedObjects are the states of objects in which they correspond to a manifest.
type verifiedObjects struct {
	mutex   sync.Mutex
	byOwner map[types.UID]map[verifiedKey]verifiedState
}

type verifiedKey struct {
	schema.GroupVersionKind
	namespace, name string
}

// A verifiedState is the record that an object was compared with, and the hash of the live object.
type verifiedState struct {
	record string
	live   [sha256.Size]byte
}

func (v *verifiedObjects) get(owner types.UID, k verifiedKey) (verifiedState, bool) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	state, ok := v.byOwner[owner][k]
	return state, ok
}

func (v *verifiedObjects) set(owner types.UID, states map[verifiedKey]verifiedState) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if v.byOwner == nil {
		v.byOwner = map[types.UID]map[verifiedKey]verifiedState{}
	}
	v.byOwner[owner] = states
}

func (v *verifiedObjects) remove(owner types.UID) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	delete(v.byOwner, owner)
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
