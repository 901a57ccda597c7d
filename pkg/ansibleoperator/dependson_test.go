package ansibleoperator_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/ansibleoperator"
	"github.com/operon-sdk/operon/testdata/documented"
)

// TestDocumentedDependsOn executes the example of dependsOn in docs/ansible.md: runs wait for objects and continue with their events, but
// not the finalizer. Another operator's kind, the same operator's one and a cluster-scoped kind are dependencies, too.
func TestDocumentedDependsOn(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "Memcached", "Queue", "ClusterCache")
	e.role("memcached", "- ansible.builtin.shell: echo run >> {{ dir }}/{{ ansible_operator_meta.name }}.runs\n")
	e.role("cleanup", "- ansible.builtin.shell: echo cleanup >> {{ dir }}/cleanup\n")
	entry := strings.NewReplacer("v1alpha1", "v1", "cache.example.com", "GROUP", "queue.example.com", "GROUP", "namespace: shared", "namespace: "+e.namespace,
		"  role: memcached\n", "  role: memcached\n  vars: {dir: "+e.dir+"}\n  finalizer: {name: example.com/cleanup, role: cleanup}\n  reconcilePeriod: 0s\n",
	).Replace(documented.Example(t, "ansible.md", "", "dependsOn:")) +
		"- {version: v1, group: GROUP, kind: ClusterCache, role: memcached, vars: {dir: " + e.dir + "}, manageStatus: false, " +
		"dependsOn: [{version: v1, group: GROUP, kind: Memcached, namespace: " + e.namespace + ", name: one}]}\n"
	stop := e.start(entry)
	one := e.resource("Memcached", "one", "spec: {queues: [{name: a}, {name: b}]}")
	message := func(obj *unstructured.Unstructured, want string) {
		t.Helper()
		e.eventually("the message of "+obj.GetName(), func() error {
			current, err := e.read(obj)
			ready := conditionOf(current, "Ready")
			if err == nil && (ready["reason"] != ansibleoperator.ReasonDependencyNotReady || ready["message"] != "dependsOn: "+strings.ReplaceAll(want, "NS", e.namespace)) {
				err = fmt.Errorf("status %v", current.Object["status"])
			}
			return err
		})
	}
	message(one, "Queue NS/a does not exist; Queue NS/b does not exist")
	a := e.resource("Queue", "a", "spec: {}")
	b := e.resource("Queue", "b", "spec: {}")
	message(one, "Queue NS/a is not ready: it has no status yet; Queue NS/b is not ready: it has no status yet")
	setReady := func(obj *unstructured.Unstructured, status string) {
		t.Helper()
		patch := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":%q,"reason":"Test"}]}}`, status)
		if err := e.client.Status().Patch(t.Context(), obj.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
	setReady(a, "True")
	message(one, "Queue NS/b is not ready: it has no status yet")
	stop()
	stop = e.start(entry)
	cache := e.resource("ClusterCache", "cluster", "spec: {}")
	e.waitClusterEvent(cache, "DependencyNotReady")
	setReady(b, "True")
	one = e.waitReady(one, "True/Successful")
	e.eventually("the run for the dependent", func() error { return e.checkRuns("cluster", 1) })
	e.waitEvents("one", ansibleoperator.ReasonDependencyNotReady, 1)
	if err := e.checkRuns("one", 1); err != nil {
		t.Error(err)
	}
	setReady(a, "False")
	setReady(b, "False")
	e.patch(one, "spec: {queues: [{name: b}, {name: a}]}")
	message(one, "Queue NS/b is not ready: Test; Queue NS/a is not ready: Test")
	if got := conditionOf(e.waitCondition(one, "Running", "True/Successful"), "Successful")["status"]; got != "True" {
		t.Errorf("Successful is %v", got)
	}
	e.delete(one)
	if err := e.checkRuns("one", 1); err != nil || e.text("cleanup") != "cleanup\n" {
		t.Errorf("%v, the finalizer wrote %q", err, e.text("cleanup"))
	}
	stop()
}

// waitClusterEvent waits until a cluster-scoped resource had an event.
func (e *env) waitClusterEvent(obj *unstructured.Unstructured, reason string) {
	e.Helper()
	e.eventually("the event", func() error {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("v1")
		list.SetKind("EventList")
		err := e.client.List(e.Context(), list, client.InNamespace("default"))
		for _, event := range list.Items {
			if uid, _, _ := unstructured.NestedString(event.Object, "involvedObject", "uid"); uid == string(obj.GetUID()) && event.Object["reason"] == reason {
				return nil
			}
		}
		return fmt.Errorf("none (%w)", err)
	})
}
