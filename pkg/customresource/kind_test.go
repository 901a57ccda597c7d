package customresource_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/customresource"
)

func TestApply(t *testing.T) {
	t.Parallel()
	type option func(*customresource.Kind) error
	kind := customresource.NewKind(time.Hour, "operator")
	err := customresource.Apply(&kind, &kind, []option{
		func(k *customresource.Kind) error { return k.SetPeriod(-1) },
		func(k *customresource.Kind) error { return k.SetMaxConcurrent(0) },
		func(k *customresource.Kind) error { return k.SetGVK(schema.GroupVersionKind{Kind: "A"}) },
		func(k *customresource.Kind) error {
			return k.SetSelector(metav1.LabelSelector{MatchLabels: map[string]string{"/": ""}})
		},
		func(k *customresource.Kind) error { return k.SetMaxConcurrent(3) },
	})
	if err == nil || strings.Count(err.Error(), "\n") != 3 || !strings.Contains(err.Error(), "reconcile period -1ns: must not be negative") ||
		!strings.Contains(err.Error(), "maximum of concurrent reconciles 0: must be greater than zero") {
		t.Errorf("want 4 errors, got %v", err)
	}
	if err := customresource.Apply(&kind, &kind, []option{}); err == nil || !strings.Contains(err.Error(), "use WithGroupVersionKind") {
		t.Errorf("without a kind: %v", err)
	}
	if kind.Period != time.Hour || kind.MaxConcurrent != 3 || !kind.GVK.Empty() || !kind.Selector.Empty() {
		t.Errorf("want invalid values ignored and valid ones set: %+v", kind)
	}
}

func TestReadAnnotations(t *testing.T) {
	t.Parallel()
	obj := &unstructured.Unstructured{}
	period, enabled, number := time.Hour, true, 1
	read := func() error {
		return errors.Join(customresource.ReadPeriod(obj, "period", &period), customresource.ReadBool(obj, "enabled", &enabled),
			customresource.ReadAnnotation(obj, "number", &number, func(text string) (int, error) { return customresource.ParseNumber(text, 0, 7) }))
	}
	if err := read(); err != nil || period != time.Hour || !enabled || number != 1 {
		t.Errorf("without annotations: %s, %t, %d, %v", period, enabled, number, err)
	}
	obj.SetAnnotations(map[string]string{"period": "0", "enabled": "0", "number": "7"})
	if err := read(); err != nil || period != 0 || enabled || number != 7 {
		t.Errorf("valid annotations: %s, %t, %d, %v", period, enabled, number, err)
	}
	obj.SetAnnotations(map[string]string{"period": "-1s", "enabled": "", "number": "8"})
	want := `annotation period "-1s": must be a duration that is not negative, such as 5m
annotation enabled "": must be true or false
annotation number "8": must be a number from 0 to 7`
	if err := read(); err == nil || err.Error() != want || period != 0 || enabled || number != 7 {
		t.Errorf("invalid annotations: %s, %t, %d, %v", period, enabled, number, err)
	}
}

func TestStatusPatch(t *testing.T) {
	t.Parallel()
	obj := &unstructured.Unstructured{Object: map[string]any{"status": "text"}}
	conditions := []any{map[string]any{"type": "Ready", "status": "True"}}
	patch := customresource.StatusPatch(obj, 2, conditions)
	if len(patch) != 2 || patch["observedGeneration"] != int64(2) {
		t.Errorf("patch of a status that is not an object: %v", patch)
	}
	obj.Object["status"] = map[string]any{"conditions": conditions, "observedGeneration": int64(2), "other": "x"}
	if patch := customresource.StatusPatch(obj, 2, conditions); len(patch) > 0 {
		t.Errorf("patch of an unchanged status: %v", patch)
	}
	if patch := customresource.StatusPatch(obj, 3, conditions); len(patch) != 1 || patch["observedGeneration"] != int64(3) {
		t.Errorf("patch for another generation: %v", patch)
	}
}

func TestJSONValues(t *testing.T) {
	t.Parallel()
	got, err := customresource.JSONValues("vars", map[string]any{"a": int32(1), "b": []string{"c"}})
	if list, _ := got["b"].([]any); err != nil || got["a"] != int64(1) || len(list) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := customresource.JSONValues("vars", map[string]any{"a": make(chan int)}); err == nil || !strings.HasPrefix(err.Error(), "vars: ") {
		t.Errorf("got %v", err)
	}
}
