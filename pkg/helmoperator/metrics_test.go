package helmoperator_test

import (
	"fmt"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

// waitMetric waits until a gauge or counter of the kind of a test has a value. The labels are name and value in turn; nil is for no series.
func (e *env) waitMetric(name string, want any, labels ...string) {
	e.Helper()
	selected := map[string]string{"group": e.gvk.Group, "version": e.gvk.Version, "kind": e.gvk.Kind}
	for i := 0; i < len(labels); i += 2 {
		selected[labels[i]] = labels[i+1]
	}
	e.eventually(fmt.Sprint(name, selected), func() error {
		m := metric(e.T, name, selected)
		switch {
		case m == nil && want == nil, m != nil && m.GetGauge().GetValue()+m.GetCounter().GetValue() == want:
			return nil
		}
		return fmt.Errorf("%v, want %v", m, want)
	})
}

// waitCondition waits for the numbers of resources by the status of a condition: True, False and Unknown.
func (e *env) waitCondition(condition string, want ...float64) {
	e.Helper()
	for i, status := range []string{"True", "False", "Unknown"} {
		e.waitMetric("helm_operator_resource_conditions", want[i], "condition", condition, "status", status)
	}
}

// TestMetricsOfState counts resources by condition and waits.
func TestMetricsOfState(t *testing.T) {
	t.Parallel()
	const since = "helm_operator_resource_not_ready_since_timestamp_seconds"
	e := newEnv(t)
	selector := metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "left", Operator: metav1.LabelSelectorOpDoesNotExist}}}
	stop := e.start(helmoperator.WithChart(hookChart("pre-install")), helmoperator.WithSelector(selector), helmoperator.WithReconcilePeriod(time.Minute))
	e.waitCondition("Ready", 0, 0, 0)
	e.create("one", map[string]any{})
	e.create("left-alone", map[string]any{}, func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"left": "alone"}) })
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.waitCondition("Ready", 1, 0, 0)
	e.waitCondition("Drifted", 0, 0, 1)
	e.waitMetric(since, nil)
	e.create("two", map[string]any{"blocked": true})
	e.waitForHook("two")
	e.waitCondition("Ready", 1, 1, 0)
	e.waitMetric("helm_operator_releases_waiting", 1.0, "reason", "hook")
	conditions, _, _ := unstructured.NestedSlice(e.waitFor("two", helmoperator.ConditionReady, "False/WaitingForHook").Object, "status", "conditions")
	for _, c := range conditions {
		if m := c.(map[string]any); m["type"] == "Ready" {
			changed, err := time.Parse(time.RFC3339, m["lastTransitionTime"].(string))
			if err != nil {
				t.Fatal(err)
			}
			e.waitMetric(since, float64(changed.Unix()))
		}
	}
	e.unblock("two")
	e.waitCondition("Ready", 2, 0, 0)
	e.waitMetric(since, nil)
	e.waitMetric("helm_operator_releases_waiting", 0.0, "reason", "hook")
	e.delete("two")
	e.waitCondition("Ready", 1, 0, 0)
	stop()
	e.waitMetric("helm_operator_resource_conditions", nil, "condition", "Ready") // another process is the leader
}

// TestMetricsOfFailures counts refusals, remediations and drift.
func TestMetricsOfFailures(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithUpgradeRemediation(helmoperator.Remediation{Retries: 1}), helmoperator.WithChart(
		chart("app", "{text: a, fail: false, more: text}", map[string]string{"job.yaml": failingHook, "configmap.yaml": configMap + "  more: {{ .Values.more }}\n"})))
	obj := e.create("one", map[string]any{})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.waitMetric("helm_operator_release_remediations_total", 0.0, "action", "retry", "result", "error")

	config, err := e.get("v1", "ConfigMap", "one-config")
	if err != nil {
		t.Fatal(err)
	}
	e.patch(config, "data: {text: changed}")
	e.waitMetric("helm_operator_release_drifted_objects_total", 1.0, "action", "repaired")

	e.patch(obj, "spec: {text: b, fail: true}")
	e.waitMetric("helm_operator_release_remediations_total", 1.0, "action", "retry", "result", "error")
	e.waitMetric("helm_operator_release_remediations_total", 2.0, "action", "rollback", "result", "success")
	e.waitCondition("ReleaseFailed", 1, 0, 0)

	e.patch(obj, "spec: {fail: false, more: 5}") // not a string
	e.eventually("refusals", func() error {
		m := metric(t, "helm_operator_release_refusals_total", map[string]string{"kind": e.gvk.Kind, "operation": "upgrade"})
		if m.GetCounter().GetValue() < 2 {
			return fmt.Errorf("%v", m)
		}
		return nil
	})
	e.patch(obj, "spec: {more: text}")
	e.waitCondition("ReleaseFailed", 0, 0, 1)
	e.waitCondition("Ready", 1, 0, 0)
	if m := metric(t, "helm_operator_release_last_success_timestamp_seconds", map[string]string{"kind": e.gvk.Kind, "operation": "upgrade"}); m == nil {
		t.Error("no last success")
	}
}
