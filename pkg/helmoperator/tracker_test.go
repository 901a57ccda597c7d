package helmoperator

import (
	"errors"
	"reflect"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// TestTracker checks which changes of objects of a release add passes, and when a pass is a light one.
func TestTracker(t *testing.T) {
	t.Parallel()
	var tracked tracker
	key := types.NamespacedName{Namespace: "a", Name: "b"}
	obj := &unstructured.Unstructured{}
	obj.SetNamespace("a")
	obj.SetName("b")
	obj.SetUID("1")
	now := time.Unix(1000, 0)
	light := func() bool { _, ok := tracked.takeLight(obj, now); return ok }

	if !tracked.requireFull(key) || tracked.requestReadiness(key) {
		t.Error("want passes for changes of objects of resources that are not reconciled yet, but none for their status")
	}
	r := tracked.begin(obj)
	if tracked.requireFull(key) {
		t.Error("want no pass for a change during a pass")
	}
	if !tracked.finish(r, nil) {
		t.Error("want the change during the pass reported at its end")
	}
	r = tracked.begin(obj)
	if tracked.finish(r, errors.New("failed")); tracked.requireFull(key) || tracked.requestReadiness(key) || light() {
		t.Error("want no passes but the ones after the delays that follow a failure")
	}
	r = tracked.begin(obj)
	if tracked.finish(r, nil) || light() {
		t.Error("want no light pass without a reason")
	}
	if !tracked.requestReadiness(key) || !light() || light() {
		t.Error("want one light pass")
	}
	if r.nextFull = now; !tracked.requestReadiness(key) || light() {
		t.Error("want a full pass when it is due")
	}
	r.nextFull = now.Add(time.Minute)
	for name, change := range map[string]func(){
		"generation":  func() { obj.SetGeneration(2) },
		"annotations": func() { obj.SetAnnotations(map[string]string{"a": "b"}) },
		"labels":      func() { obj.SetLabels(map[string]string{"a": "b"}) },
		"uid":         func() { obj.SetUID("2") },
		"object":      func() { tracked.requireFull(key) },
	} {
		tracked.finish(tracked.begin(obj), nil)
		change()
		if tracked.requestReadiness(key); light() {
			t.Errorf("want a full pass after a change of %s", name)
		}
	}
	if tracked.drop(key); tracked.resources[key] != nil {
		t.Error("want the resource dropped")
	}
}

func TestStatusPatch(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	obj := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"generation": int64(3), "resourceVersion": "7"},
		"status":   map[string]any{"deployedRelease": map[string]any{"name": "x", "manifest": "secret"}},
	}}
	change := newStatusChange()
	change.set(condition{ConditionReady, metav1.ConditionTrue, ReasonObjectsReady, ""})
	change.remove(ConditionIrreconcilable)
	change.release = map[string]any{"name": "x"}
	want := map[string]any{
		"observedGeneration": int64(3), "deployedRelease": map[string]any{"name": "x", "manifest": nil},
		"conditions": []any{map[string]any{
			"type": "Ready", "status": "True", "reason": "ObjectsReady", "observedGeneration": int64(3), "lastTransitionTime": "1970-01-01T00:16:40Z",
		}},
	}
	status := change.patch(obj, now)
	if !reflect.DeepEqual(status, want) {
		t.Errorf("got %v, want %v", status, want)
	}
	status["deployedRelease"] = map[string]any{"name": "x"}
	obj.Object["status"] = status
	if got := change.patch(obj, now.Add(time.Hour)); len(got) > 0 {
		t.Errorf("got %v, want no patch of an unchanged status", got)
	}
	change.release = map[string]any{}
	if got := change.patch(obj, now); !reflect.DeepEqual(got, map[string]any{"deployedRelease": nil}) {
		t.Errorf("got %v, want the release removed", got)
	}
}

func TestReadyWait(t *testing.T) {
	t.Parallel()
	for waits, want := range map[int]time.Duration{0: 2 * time.Second, 1: 4 * time.Second, 3: 16 * time.Second, 4: 30 * time.Second, 1000: 30 * time.Second} {
		if got := readyWait(waits); got != want {
			t.Errorf("%d: got %s, want %s", waits, got, want)
		}
	}
}
