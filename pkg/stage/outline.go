package stage

import "github.com/operon-sdk/operon/pkg/kube"

// Limits of what a history keeps as a whole, so that an operator that never rests doesn't need all memory. Later changes are outlined.
const (
	maxVersions = 200    // of an object
	maxKept     = 20_000 // of all objects
)

// kept counts the changes that a history keeps as a whole.
type kept struct {
	versions map[string]int // by UID
	all      int
	// outline holds the positions of changes beyond the limits, by UID: each is outlined when the next change of its object follows.
	outline map[string]int
}

func newKept() kept { return kept{versions: map[string]int{}, outline: map[string]int{}} }

// append adds a change, and outlines the former one of the object if that is beyond the limits.
func (h *History) append(c Change) {
	uid := string(c.After.GetUID())
	if i, found := h.kept.outline[uid]; found {
		former := &h.changes[i]
		former.Before, former.After, former.Outlined = outline(former.Before), outline(former.After), true
		delete(h.kept.outline, uid)
	}
	if h.kept.versions[uid] < maxVersions && h.kept.all < maxKept {
		h.kept.versions[uid]++
		h.kept.all++
	} else {
		h.kept.outline[uid] = len(h.changes)
	}
	h.changes = append(h.changes, c)
}

// outline returns an object with what identifies its version.
func outline(o *kube.Object) *kube.Object {
	if o == nil {
		return nil
	}
	short := kube.Named(o.GetAPIVersion(), o.GetKind(), o.GetNamespace(), o.GetName())
	short.SetUID(o.GetUID())
	short.SetResourceVersion(o.GetResourceVersion())
	short.SetDeletionTimestamp(o.GetDeletionTimestamp())
	return short
}
