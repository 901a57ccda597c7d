package helmoperator

import (
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

func TestConditions(t *testing.T) {
	t.Parallel()
	first, second := time.Unix(1000, 0), time.Unix(2000, 0)
	foreign := map[string]any{"type": "Other", "status": "True", "extra": "kept"}
	conditions := setCondition([]any{foreign}, condition{ConditionReady, metav1.ConditionFalse, "A", "x"}, 1, first)
	before := conditions[1]
	conditions = setCondition(conditions, condition{ConditionReady, metav1.ConditionFalse, "B", "y"}, 2, second)
	want := map[string]any{
		"type": "Ready", "status": "False", "reason": "B", "message": "y", "observedGeneration": int64(2),
		"lastTransitionTime": first.UTC().Format(time.RFC3339),
	}
	if !reflect.DeepEqual(conditions, []any{foreign, want}) {
		t.Errorf("got %v, want the transition time kept while the status is the same", conditions)
	}
	conditions = setCondition(conditions, condition{kind: ConditionReady, status: metav1.ConditionTrue}, 2, second)
	ready := conditions[1].(map[string]any)
	if _, ok := ready["reason"]; ok || ready["lastTransitionTime"] != second.UTC().Format(time.RFC3339) {
		t.Errorf("got %v, want a new transition time and no reason", ready)
	}
	if !reflect.DeepEqual(customresource.RemoveCondition(conditions, ConditionReady), []any{foreign}) || len(conditions) != 2 {
		t.Error("want the condition removed from a copy")
	}
	if before.(map[string]any)["reason"] != "A" {
		t.Error("setCondition changed its argument")
	}
	obj := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": []any{foreign, before}}}}
	if got := readCondition(obj, ConditionReady); got != (condition{ConditionReady, metav1.ConditionFalse, "A", "x"}) {
		t.Errorf("got %v", got)
	}
	if got := readCondition(obj, ConditionDeployed); got != (condition{kind: ConditionDeployed}) {
		t.Errorf("got %v, want no status", got)
	}
}

func TestReadSettings(t *testing.T) {
	t.Parallel()
	r := &Reconciler{timeout: time.Hour, drift: release.DriftEnabled}
	r.kind.Period = time.Minute
	obj := &unstructured.Unstructured{}
	if got, err := r.readSettings(obj); err != nil || got != (settings{period: time.Minute, timeout: time.Hour, drift: release.DriftEnabled}) {
		t.Errorf("got %+v (%v), want the defaults", got, err)
	}
	obj.SetAnnotations(map[string]string{
		AnnotationUpgradeForce: "true", AnnotationRollbackForce: "true", AnnotationUninstallWait: "1", AnnotationReconcilePeriod: "5m",
		AnnotationTimeout: "0", AnnotationDriftDetection: "warn", AnnotationTest: "true",
	})
	if got, err := r.readSettings(obj); err != nil || got != (settings{true, true, true, 5 * time.Minute, 0, release.DriftWarn, true}) {
		t.Errorf("got %+v (%v), want all", got, err)
	}
	obj.SetAnnotations(map[string]string{AnnotationUpgradeForce: "yes", AnnotationReconcilePeriod: "often", AnnotationUninstallWait: "true", AnnotationTimeout: "-1s", AnnotationDriftDetection: "wran"})
	got, err := r.readSettings(obj)
	if err == nil || !strings.Contains(err.Error(), `upgrade-force "yes": must be true or false`) ||
		!strings.Contains(err.Error(), `reconcile-period "often": must be a duration`) || !strings.Contains(err.Error(), `/timeout "-1s": must be a duration`) ||
		!strings.Contains(err.Error(), `drift-detection "wran": must be enabled, warn or disabled; did you mean "warn"?`) ||
		got != (settings{uninstallWait: true, period: time.Minute, timeout: time.Hour, drift: release.DriftEnabled}) {
		t.Errorf("got %+v (%v), want both errors and the valid setting", got, err)
	}
}
