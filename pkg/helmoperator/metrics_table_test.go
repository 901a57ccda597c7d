package helmoperator

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/helmoperator/release"
	"github.com/operon-sdk/operon/testdata/documented"
)

// TestMetricsAreDocumented compares all metrics with docs/metrics.md.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	registry := documented.NewRecorder()
	c, err := registerCollectors(registry)
	if err != nil {
		t.Fatal(err)
	}
	gvk := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "App"}
	c.initialize(gvk)
	c.setCreated(&unstructured.Unstructured{}, gvk)
	c.observe(gvk, operationInstall, time.Second, nil)
	c.observeRetry(gvk, &failure{}, errors.New("failed"))
	c.observeWait(gvk, release.Waiting{})
	registry.Compare(t, "Helm", "resource_created_at_seconds")
}
