package stage

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/operon-sdk/operon/pkg/kube"
)

// pending says what the controllers of Kubernetes have still to do, or "". On a busy machine, they can pause for longer than
// Settling.Quiet.
func (h *History) pending() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.sorted() {
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
	owners := o.GetOwnerReferences()
	for _, owner := range owners {
		if h.current[string(owner.UID)] != nil {
			return ""
		}
	}
	if len(owners) > 0 && o.GetDeletionTimestamp() == nil {
		return fmt.Sprintf("waits for the garbage collector, since %s %s is gone", owners[0].Kind, owners[0].Name)
	}
	return ""
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
