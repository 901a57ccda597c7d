package ansibleoperator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/ansibleoperator"
	"github.com/operon-sdk/operon/testdata/documented"
)

// TestRetries repeats failed runs as often as the example of docs/ansible.md and an annotation say, also after a restart, and counts again
// for another spec.
func TestRetries(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "Memcached")
	e.role("memcached", "- ansible.builtin.shell: echo run >> {{ dir }}/{{ ansible_operator_meta.name }}.runs\n- ansible.builtin.fail: {msg: not permitted}\n  when: fail\n")
	example := strings.NewReplacer("v1alpha1", "v1", "cache.example.com", "GROUP").Replace(documented.Example(t, "ansible.md", "- version: ", "retries:"))
	start := func() func() {
		return e.start(strings.TrimRight(example, "\n") + "\n  reconcilePeriod: 0s\n  vars: {dir: " + e.dir + "}\n")
	}
	stop := start()
	one := e.resource("Memcached", "one", "spec: {fail: true}")
	two := e.create(fmt.Sprintf("{apiVersion: %s/v1, kind: Memcached, metadata: {namespace: %s, name: two, annotations: {%s: '0'}}, spec: {fail: true}}",
		e.group, e.namespace, ansibleoperator.AnnotationRetries))
	wait := func(obj *unstructured.Unstructured, runs int, message string) {
		t.Helper()
		e.eventually(obj.GetName()+": "+message, func() error {
			current, err := e.read(obj)
			if err != nil {
				return err
			}
			count, _, _ := unstructured.NestedInt64(current.Object, "status", "failedRuns", "count")
			if ready := conditionOf(current, "Ready"); ready["message"] != message || count != int64(runs) {
				return fmt.Errorf("status %v", current.Object["status"])
			}
			return nil
		})
	}
	wait(one, 2, "2 runs have failed, not repeated until something changes: not permitted")
	wait(two, 1, "1 run has failed, not repeated until something changes: not permitted")
	time.Sleep(3 * time.Second) // The delays are 1 and 2 seconds.
	for name, want := range map[string]int{"one": 2, "two": 1} {
		if err := e.checkRuns(name, want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	stop()
	if err := os.Remove(filepath.Join(e.dir, "one.runs")); err != nil {
		t.Fatal(err)
	}
	start()
	wait(one, 3, "3 runs have failed, not repeated until something changes: not permitted")
	e.annotate(one, "reconcile-requested-at=", "a")
	wait(one, 4, "4 runs have failed, not repeated until something changes: not permitted")
	if err := e.checkRuns("one", 2); err != nil {
		t.Error(err)
	}
	e.patch(one.DeepCopy(), "spec: {fail: true, other: 1}")
	wait(one, 2, "2 runs have failed, not repeated until something changes: not permitted")
	e.patch(one.DeepCopy(), "spec: {fail: false}")
	if obj := e.waitReady(one, "True/Successful"); obj.Object["status"].(map[string]any)["failedRuns"] != nil {
		t.Errorf("status %v", obj.Object["status"])
	}
}
