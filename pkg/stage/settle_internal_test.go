package stage

import (
	"net/http"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operon-sdk/operon/pkg/gateway"
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

// TestSettleContent waits half of the time for an operator that waits for nothing but changes.
func TestSettleContent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, now int
		knownBefore bool
		known       bool
		conflicts   int
		want        time.Duration
	}{
		"content":                 {0, 0, true, true, 0, 2 * time.Second},
		"a conflict before":       {2, 2, true, true, 2, 2 * time.Second},
		"a look without conflict": {3, 3, true, true, 2, 4 * time.Second},
		"a conflict now":          {2, 3, true, true, 3, 4 * time.Second},
		"not known before":        {0, 0, false, true, 0, 2 * time.Second},
		"a retry, when unknown":   {0, 1, false, true, 1, 4 * time.Second},
		"not known, as it ends":   {2, 2, true, false, 2, 4 * time.Second},
	} {
		n, known := test.before, test.knownBefore
		conflict := gateway.Record{ServerCode: http.StatusConflict, Request: gateway.Request{Verb: "update"}}
		requests := append(slices.Repeat([]gateway.Record{conflict}, test.conflicts), gateway.Record{ServerCode: http.StatusOK})
		content := Content(func() (int, bool) { return n, known }, func() []gateway.Record { return requests })
		n, known = test.now, test.known
		start := time.Unix(100, 0)
		now := start.Add(-time.Second)
		h := &History{now: func() time.Time { now = now.Add(time.Second); return now }}
		err := h.Settle(t.Context(), Settling{Quiet: 4 * time.Second, Limit: time.Minute, Content: content})
		if err != nil || now.Sub(start) != test.want {
			t.Errorf("%s: settled after %s, %v", name, now.Sub(start), err)
		}
	}
	if Content(nil, nil) != nil {
		t.Error("an operator without counts may be content")
	}
}

// TestSettleFinalizers gives an operator more time while an object that has just been deleted waits for it.
func TestSettleFinalizers(t *testing.T) {
	t.Parallel()
	start := time.Unix(100, 0).Add(time.Second / 2)
	for name, test := range map[string]struct {
		deleted    time.Time
		finalizers []string
		limit      time.Duration
		want       time.Duration
	}{
		"just deleted":    {start.Truncate(time.Second), []string{"example.com/f"}, time.Minute, finalizerQuiet},
		"deleted before":  {start.Add(-time.Second), []string{"example.com/f"}, time.Minute, 2 * time.Second},
		"no finalizer":    {start, nil, time.Minute, 2 * time.Second},
		"not deleted":     {time.Time{}, []string{"example.com/f"}, time.Minute, 2 * time.Second},
		"near the limit":  {start, []string{"example.com/f"}, 10 * time.Second, 5 * time.Second},
		"a limit of less": {start, []string{"example.com/f"}, 3 * time.Second, 2 * time.Second},
	} {
		object := &kube.Object{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "App"}}
		object.SetFinalizers(test.finalizers)
		if !test.deleted.IsZero() {
			object.SetDeletionTimestamp(&metav1.Time{Time: test.deleted})
		}
		now := start.Add(-time.Second)
		h := &History{current: map[string]*kube.Object{"": object}, now: func() time.Time { now = now.Add(time.Second); return now }}
		if err := h.Settle(t.Context(), Settling{Quiet: 2 * time.Second, Limit: test.limit}); err != nil || now.Sub(start) != test.want {
			t.Errorf("%s: settled after %s, %v", name, now.Sub(start), err)
		}
	}
}
