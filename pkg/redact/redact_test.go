package redact_test

import (
	"sync"
	"testing"

	"github.com/operon-sdk/operon/pkg/redact"
)

// TestConcurrentUse is for the race detector, too.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	var r redact.Redactor
	var group sync.WaitGroup
	for _, secret := range []string{"first-secret", "second-secret", "third-secret"} {
		group.Go(func() {
			r.AddSecret(map[string]any{"stringData": map[string]any{"key": secret}})
			if got := r.Redact("a " + secret); got != "a [redacted]" {
				t.Errorf("got %q", got)
			}
		})
	}
	group.Wait()
	if got, want := r.Redact("first-secret third-secret c2Vjb25kLXNlY3JldA== other"), "[redacted] [redacted] [redacted] other"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
