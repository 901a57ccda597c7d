package local

import (
	"context"
	"testing"

	"github.com/operon-sdk/operon/pkg/kube"
)

// TestDriveSamples completes given custom resources like those of config/samples.
func TestDriveSamples(t *testing.T) {
	t.Parallel()
	objects, err := kube.Decode([]byte("apiVersion: example.com/v1\nkind: App\nmetadata: {name: one}\nspec:\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{o: Options{SampleObjects: objects, Drive: func(_ context.Context, s *Session) error {
		if spec, ok := s.Samples[0].Object["spec"].(map[string]any); !ok || len(spec) > 0 {
			t.Errorf("spec %v", s.Samples[0].Object["spec"])
		}
		return nil
	}}}
	if err := r.drive(t.Context()); err != nil {
		t.Fatal(err)
	}
}
