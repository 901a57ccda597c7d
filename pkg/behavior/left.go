package behavior

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
)

// know adds the objects that exist to those that don't count as left.
func (r *run) know() {
	if r.known == nil {
		r.known = map[string]bool{}
	}
	maps.Copy(r.known, uids(r.history.Objects()))
}

func uids(objects []*kube.Object) map[string]bool {
	set := map[string]bool{}
	for _, o := range objects {
		set[string(o.GetUID())] = true
	}
	return set
}

// recordLeft records the objects that are left, after a scenario unless it is "". counts, if it isn't nil, selects them.
func (r *run) recordLeft(scenario string, counts func(*kube.Object) bool) {
	for _, o := range leftovers(r.history.Objects(), r.known, r.made()) {
		if counts == nil || counts(o) {
			r.observed.Left = append(r.observed.Left, Leftover{o, scenario})
		}
	}
	r.know()
}

// leftovers returns the objects that an operator has left, given the UIDs of those that don't count and of those that it made: not what a
// left object owns, and not what Kubernetes keeps for users by design, such as the volumes of a StatefulSet. Definitions stay, too: they
// can have other users, and Helm never deletes them.
func leftovers(objects []*kube.Object, known, made map[string]bool) (left []*kube.Object) {
	existing := uids(objects)
	for _, o := range objects {
		switch {
		case known[string(o.GetUID())], stage.IsHeartbeat(o), stage.IsIncidental(o), o.GetKind() == kube.CRDKind:
		case o.GetDeletionTimestamp() != nil, made[string(o.GetUID())] && !isOwned(o, existing):
			left = append(left, o)
		}
	}
	return left
}

// isOwned reports whether an owner of an object exists, given the UIDs of all objects.
func isOwned(o *kube.Object, existing map[string]bool) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return existing[string(owner.UID)] })
}

// isRelease reports whether an object is the record of a release that Helm keeps: who deletes it takes the release from Helm.
func isRelease(o *kube.Object) bool { return kube.StringAt(o.Object, "type") == "helm.sh/release.v1" }
