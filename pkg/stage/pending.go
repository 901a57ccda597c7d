package stage

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operon-sdk/operon/pkg/kube"
)

// pending says what the controllers of Kubernetes have still to do with objects that count, or "". On a busy machine, they can pause for
// longer than Settling.Quiet.
func (h *History) pending(s *Settling) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.sorted() {
		if !s.counts(o) {
			continue
		}
		if text := h.pendingOf(o); text != "" {
			return kube.FullName(o) + " " + text
		}
	}
	return ""
}

func (h *History) pendingOf(o *kube.Object) string {
	switch o.GroupVersionKind().Group {
	case "apps":
		if observed, found := kube.ValueAt(o.Object, "status", "observedGeneration").(int64); found && observed < o.GetGeneration() {
			return "has changed, and its controller has not seen it"
		}
	case "":
		if text := pendingOfCore(o); text != "" {
			return text
		}
	}
	if h.isGarbage(o) {
		owner := o.GetOwnerReferences()[0]
		return fmt.Sprintf("waits for the garbage collector, since %s %s is gone", owner.Kind, owner.Name)
	}
	return ""
}

// isGarbage reports whether the garbage collector is to delete an object.
func (h *History) isGarbage(o *kube.Object) bool {
	owners := o.GetOwnerReferences()
	return len(owners) > 0 && o.GetDeletionTimestamp() == nil &&
		!slices.ContainsFunc(owners, func(owner metav1.OwnerReference) bool { return h.current[string(owner.UID)] != nil })
}

// has reports whether an object that counts matches.
func (h *History) has(s *Settling, matches func(*kube.Object) bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.current {
		if s.counts(o) && matches(o) {
			return true
		}
	}
	return false
}

// finalizing returns whether an object that was deleted after a time waits for its finalizers.
func finalizing(after time.Time) func(*kube.Object) bool {
	after = after.Truncate(time.Second) // as times of deletion are
	return func(o *kube.Object) bool {
		deleted := o.GetDeletionTimestamp()
		return deleted != nil && len(o.GetFinalizers()) > 0 && !deleted.Time.Before(after)
	}
}

func pendingOfCore(o *kube.Object) string {
	deleted := o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0
	switch o.GetKind() {
	case "Pod":
		scheduled := kube.StringAt(o.Object, "spec", "nodeName") != ""
		if deleted || scheduled && kube.StringAt(o.Object, "status", "phase") == string(corev1.PodPending) {
			return "is starting or stopping"
		}
	case "Namespace":
		if deleted {
			return "is being deleted"
		}
	}
	return ""
}
