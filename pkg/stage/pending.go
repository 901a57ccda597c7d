package stage

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operon-sdk/operon/pkg/diag"
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
		if text := h.pendingOfApps(o); text != "" {
			return text
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

// pendingOfApps compares the status of a workload with what its controller copies there: its generation, and how many of its pods are ready.
func (h *History) pendingOfApps(o *kube.Object) string {
	switch o.GetKind() {
	case "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet":
	default:
		return ""
	}
	if o.GetDeletionTimestamp() != nil {
		return ""
	}
	// A controller that has not seen an object has written no status yet, which has the same meaning as generation 0.
	if observed, _ := kube.ValueAt(o.Object, "status", "observedGeneration").(int64); observed < o.GetGeneration() {
		return "has changed, and its controller has not seen it"
	}
	ready, known := h.readyOf(o)
	if reported, _ := kube.ValueAt(o.Object, "status", readyField(o)).(int64); known && reported != ready {
		return fmt.Sprintf("reports %s, but has %d", diag.Count(int(reported), "ready pod"), ready)
	}
	return ""
}

// readyField returns the field of a workload's status with the number of its ready pods.
func readyField(o *kube.Object) string {
	if o.GetKind() == "DaemonSet" {
		return "numberReady"
	}
	return "readyReplicas"
}

// readyOf returns how many ready pods the objects that a workload controls have: pods themselves, and replica sets as they report it. It isn't
// known while one of them is being deleted, since controllers count those in different ways.
func (h *History) readyOf(workload *kube.Object) (ready int64, known bool) {
	for _, o := range h.current {
		owner := metav1.GetControllerOf(o)
		if owner == nil || owner.UID != workload.GetUID() {
			continue
		}
		if o.GetDeletionTimestamp() != nil {
			return 0, false
		}
		switch o.GetKind() {
		case "ReplicaSet":
			n, _ := kube.ValueAt(o.Object, "status", readyField(o)).(int64)
			ready += n
		case "Pod":
			if kube.IsPodReady(o) && kube.StringAt(o.Object, "status", "phase") == string(corev1.PodRunning) {
				ready++
			}
		}
	}
	return ready, true
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
		starts := kube.StringAt(o.Object, "status", "phase") == string(corev1.PodPending) &&
			(kube.StringAt(o.Object, "spec", "nodeName") != "" || !isSeenByScheduler(o))
		if deleted || starts {
			return "is starting or stopping"
		}
	case "Namespace":
		if deleted {
			return "is being deleted"
		}
	}
	return ""
}

// isSeenByScheduler reports whether a pod without a node stays so for now: the scheduler says why in a condition. Nothing is known of other
// schedulers than the one of Kubernetes.
func isSeenByScheduler(pod *kube.Object) bool {
	scheduler := kube.StringAt(pod.Object, "spec", "schedulerName")
	return scheduler != corev1.DefaultSchedulerName || slices.ContainsFunc(kube.Conditions(pod), func(c kube.Condition) bool {
		return c.Type == string(corev1.PodScheduled)
	})
}
