package helmoperator_test

import (
	"fmt"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/operon-sdk/operon/pkg/helmoperator"
)

// metric returns the metric with a name and labels, or nil.
func metric(t *testing.T, name string, labels map[string]string) *dto.Metric {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			matching := 0
			for _, label := range m.GetLabel() {
				if labels[label.GetName()] == label.GetValue() {
					matching++
				}
			}
			if matching == len(labels) {
				return m
			}
		}
	}
	return nil
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(chart("app", "", map[string]string{"configmap.yaml": configMap})))
	obj := e.create("one", map[string]any{"text": "x"})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	created := map[string]string{"name": "one", "namespace": e.namespace, "group": e.gvk.Group, "version": e.gvk.Version, "kind": e.gvk.Kind}
	if m := metric(t, "resource_created_at_seconds", created); m == nil || m.GetGauge().GetValue() != float64(obj.GetCreationTimestamp().Unix()) {
		t.Errorf("resource_created_at_seconds is %v", m)
	}
	if m := metric(t, "helm_operator_build_info", nil); m == nil || m.GetGauge().GetValue() != 1 {
		t.Errorf("helm_operator_build_info is %v", m)
	}
	e.delete("one")
	for _, operation := range []string{"install", "uninstall"} {
		labels := map[string]string{"kind": e.gvk.Kind, "operation": operation, "result": "success"}
		if m := metric(t, "helm_operator_release_operations_total", labels); m == nil || m.GetCounter().GetValue() != 1 {
			t.Errorf("%s: helm_operator_release_operations_total is %v", operation, m)
		}
		delete(labels, "result")
		if m := metric(t, "helm_operator_release_operation_duration_seconds", labels); m == nil || m.GetHistogram().GetSampleCount() != 1 {
			t.Errorf("%s: helm_operator_release_operation_duration_seconds is %v", operation, m)
		}
	}
	e.eventually("the time of creation is removed", func() error {
		if m := metric(t, "resource_created_at_seconds", created); m != nil {
			return fmt.Errorf("%v", m)
		}
		return nil
	})
}
