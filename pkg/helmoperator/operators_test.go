package helmoperator_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/helmoperator"
)

// TestOperatorsOfOneKind checks that two operators with different selectors each finalize what they have taken over, and nothing else,
// also while the other one doesn't run.
func TestOperatorsOfOneKind(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	operator := func(shard string) func() {
		return e.start(helmoperator.WithOperatorName("system/"+shard), helmoperator.WithSelector(metav1.LabelSelector{MatchLabels: map[string]string{"shard": shard}}),
			helmoperator.WithChart(chart("app", "", map[string]string{"configmap.yaml": configMap})))
	}
	create := func(name, shard string) *unstructured.Unstructured {
		obj := e.create(name, map[string]any{"text": "x"}, func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"shard": shard}) })
		e.waitFor(name, helmoperator.ConditionReady, "True/ObjectsReady")
		return obj
	}
	remove := func(obj *unstructured.Unstructured) {
		t.Helper()
		if err := e.client.Delete(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	waitGone := func(name string) { t.Helper(); e.waitGone(e.gvk.GroupVersion().String(), e.gvk.Kind, name) }
	// exists checks that a resource still has its release, after the operators have handled everything before it.
	exists := func(name string) {
		t.Helper()
		obj, err := e.resource(name)
		if err != nil || len(obj.GetFinalizers()) != 1 {
			t.Errorf("%s: %v (%v)", name, obj, err)
		}
		if _, err := e.get("v1", "ConfigMap", name+"-config"); err != nil {
			t.Error(err)
		}
	}
	stopB := operator("b")
	ofB, relabeled, old := create("of-b", "b"), create("relabeled", "b"), create("old", "b")
	if obj, err := e.resource("of-b"); err != nil || obj.GetAnnotations()[helmoperator.AnnotationOperator] != "system/b: shard=b" {
		t.Errorf("annotations %v (%v)", obj.GetAnnotations(), err)
	}
	stopB()
	e.patch(old, "metadata: {annotations: {"+helmoperator.AnnotationOperator+": null}}")
	e.patch(relabeled, "metadata: {labels: {shard: none}}")
	remove(ofB)
	remove(relabeled)
	remove(old)
	stopA := operator("a")
	// The only worker of A has handled the others when it has finalized its own.
	for i := range 2 {
		name := fmt.Sprint("own", i)
		remove(create(name, "a"))
		waitGone(name)
	}
	exists("of-b")
	exists("relabeled")
	exists("old")
	if n := strings.Count(e.log.String(), "left a deleted resource alone"); n != 1 || !strings.Contains(e.log.String(), `"name"="old"`) {
		t.Errorf("%d messages about a resource without a record, want one", n)
	}

	operator("b")
	waitGone("of-b")
	waitGone("relabeled")
	waitGone("old") // its label selects B

	// A resource that moves to another operator is finalized by the other one.
	moved := create("moved", "a")
	e.patch(moved, "metadata: {labels: {shard: b}}")
	e.eventually("the other operator has taken it over", func() error {
		obj, err := e.resource("moved")
		if err == nil && obj.GetAnnotations()[helmoperator.AnnotationOperator] != "system/b: shard=b" {
			err = fmt.Errorf("annotations %v", obj.GetAnnotations())
		}
		return err
	})
	stopA()
	remove(moved)
	waitGone("moved")
}

// TestOperatorOfExistingResources checks that the resources of an operator that did not record itself are recorded.
func TestOperatorOfExistingResources(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	obj := e.create("one", map[string]any{"text": "x"}, func(obj *unstructured.Unstructured) {
		obj.SetLabels(map[string]string{"shard": "a"})
		obj.SetFinalizers([]string{helmoperator.LegacyFinalizer})
	})
	e.start(helmoperator.WithSelector(metav1.LabelSelector{MatchLabels: map[string]string{"shard": "a"}}),
		helmoperator.WithChart(chart("app", "", map[string]string{"configmap.yaml": configMap})))
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	current, err := e.resource("one")
	if err != nil || current.GetAnnotations()[helmoperator.AnnotationOperator] != "unnamed: shard=a" ||
		fmt.Sprint(current.GetFinalizers()) != "["+helmoperator.LegacyFinalizer+"]" {
		t.Errorf("%v (%v)", current, err)
	}
	e.patch(obj, "metadata: {labels: {shard: b}}")
	if err := e.client.Delete(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	e.waitGone(e.gvk.GroupVersion().String(), e.gvk.Kind, "one")
}
