package cluster

import "testing"

// TestSettled checks which snapshots are settled.
func TestSettled(t *testing.T) {
	for object, want := range map[string]bool{
		`{"metadata":{"name":"a"}}`: true,
		`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z","name":"a"}}`: false,
		`{"endpoints":[{"conditions":{"terminating":false}}]}`:                 true,
		`{"endpoints":[{"conditions":{"ready":false,"terminating":true}}]}`:    false,
	} {
		if err := (Snapshot{"v1 Pod": {object}}).Settled(); (err == nil) != want {
			t.Errorf("%s: %v", object, err)
		}
	}
}
