package ansibleoperator

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/proxy"
	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
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
	p, err := proxy.New(proxy.Config{REST: &rest.Config{Host: "https://127.0.0.1:1"}, Registry: registry})
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := p.Start(ended); err != nil {
		t.Error(err)
	}
	gvk := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "App"}
	c.initialize(gvk, true)
	c.observeRun(gvk)(&runner.Result{Killed: "SIGTERM", Stats: runner.Stats{OK: 1}}, false)
	c.observe(gvk, true, time.Second, &runner.Result{}, nil)
	registry.Compare(t, "Ansible")
}
