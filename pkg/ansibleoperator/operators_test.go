package ansibleoperator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/operon-sdk/operon/pkg/ansibleoperator"
)

// TestOperatorsOfOneKind checks that two operators with different selectors each run their finalizer for what they have taken over, and
// for nothing else, also while the other one doesn't run.
func TestOperatorsOfOneKind(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	e.role("app", "- ansible.builtin.debug: {msg: run}\n")
	e.role("gone", `- ansible.builtin.copy: {content: "{{ by }}", dest: "{{ dir }}/{{ ansible_operator_meta.name }}"}`+"\n")
	operator := func(shard string) func() {
		return e.start(strings.NewReplacer("SHARD", shard, "DIR", e.dir).Replace(`- {version: v1, group: GROUP, kind: App, role: app, selector: {matchLabels: {shard: SHARD}},
   finalizer: {name: example.com/gone, role: gone, vars: {dir: DIR, by: SHARD}}}
`), func(s *ansibleoperator.Settings, _ *manager.Options) { s.RunDirectory += shard })
	}
	create := func(name, shard string) *unstructured.Unstructured {
		e.Helper()
		obj := e.create(fmt.Sprintf("{apiVersion: %s/v1, kind: App, metadata: {namespace: %s, name: %s, labels: {shard: %s}}}", e.group, e.namespace, name, shard))
		e.waitReady(obj, "True/Successful")
		return obj
	}
	remove := func(obj *unstructured.Unstructured) {
		t.Helper()
		if err := e.client.Delete(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	finalizedBy := func(name, want string) {
		t.Helper()
		if got, _ := os.ReadFile(filepath.Join(e.dir, name)); string(got) != want {
			t.Errorf("%s was finalized by %q, want %q", name, got, want)
		}
	}
	stopB := operator("b")
	ofB, relabeled, old := create("of-b", "b"), create("relabeled", "b"), create("old", "b")
	if obj, err := e.read(ofB); err != nil || obj.GetAnnotations()[ansibleoperator.AnnotationOperator] != "unnamed: shard=b" {
		t.Errorf("annotations %v (%v)", obj.GetAnnotations(), err)
	}
	stopB()
	e.patch(old, "metadata: {annotations: {"+ansibleoperator.AnnotationOperator+": null}}")
	e.patch(relabeled, "metadata: {labels: {shard: a}}") // before A sees it
	remove(ofB)
	remove(relabeled)
	remove(old)
	stopA := operator("a")
	// The two workers of A have handled the others when they have finalized its own.
	for i := range 2 {
		own := create(fmt.Sprint("own", i), "a")
		remove(own)
		e.waitGone(own)
		finalizedBy(own.GetName(), "a")
	}
	for _, name := range []string{"of-b", "relabeled", "old"} {
		finalizedBy(name, "")
	}
	if n := strings.Count(e.log.String(), "left a deleted resource alone"); n != 1 {
		t.Errorf("%d messages about a resource without a record, want one", n)
	}
	operator("b")
	for _, obj := range []*unstructured.Unstructured{ofB, relabeled, old} {
		e.waitGone(obj)
		finalizedBy(obj.GetName(), "b")
	}
	moved := create("moved", "a")
	e.patch(moved, "metadata: {labels: {shard: b}}")
	e.eventually("the other operator has taken it over", func() error {
		obj, err := e.read(moved)
		if err == nil && obj.GetAnnotations()[ansibleoperator.AnnotationOperator] != "unnamed: shard=b" {
			err = fmt.Errorf("annotations %v", obj.GetAnnotations())
		}
		return err
	})
	stopA()
	e.delete(moved)
	finalizedBy("moved", "b")
}
