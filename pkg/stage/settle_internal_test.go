package stage

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operon-sdk/operon/pkg/kube"
)

// TestSettleDone ends a wait before anything has settled.
func TestSettleDone(t *testing.T) {
	t.Parallel()
	calls := 0
	h := &History{now: time.Now}
	err := h.Settle(t.Context(), Settling{Quiet: time.Hour, Limit: time.Hour, Done: func() bool {
		calls++
		return calls == 2
	}})
	if err != nil || calls != 2 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// TestSettleConcerns leaves objects of others out: their changes, and what the controllers of Kubernetes have to do with them.
func TestSettleConcerns(t *testing.T) {
	t.Parallel()
	mine, other := kube.Named("v1", "ConfigMap", "mine", "a"), kube.Named("v1", "Namespace", "", "other")
	deleted := metav1.Now()
	other.SetDeletionTimestamp(&deleted)
	now := time.Unix(0, 0)
	h := &History{current: map[string]*kube.Object{"other": other}, changes: []Change{{After: mine, Time: now}}}
	h.now = func() time.Time {
		now = now.Add(time.Second)
		h.changes = append(h.changes, Change{After: other, Time: now})
		return now
	}
	s := Settling{Quiet: 3 * time.Second, Limit: 9 * time.Second, Concerns: func(o *kube.Object) bool { return o != other }}
	if err := h.Settle(t.Context(), s); err != nil {
		t.Error(err)
	}
	s.Concerns = nil
	if h.Settle(t.Context(), s) == nil {
		t.Error("settled while a namespace is being deleted")
	}
}
