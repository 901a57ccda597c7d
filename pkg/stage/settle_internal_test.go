package stage

import (
	"testing"
	"time"
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
