package ansibleoperator_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/ansibleoperator"
	"github.com/operon-sdk/operon/testdata/documented"
)

// TestRollout runs a new version of a role one resource after the other, as the example of docs/ansible.md says, stops after a failure,
// and goes on after a restart.
func TestRollout(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	// The run of resource b fails in version 2, unless the spec says otherwise.
	e.role("app", `- ansible.builtin.shell: echo {{ ansible_operator_meta.name }} >> {{ dir }}/runs.txt
- ansible.builtin.fail: {msg: not permitted}
  when: "version == 2 and ansible_operator_meta.name == 'b' and not permitted | default(false)"
`)
	e.options = append(e.options, ansibleoperator.WithVars(map[string]any{"dir": e.dir}))
	example := documented.Example(t, "ansible.md", "- version: ", "rollout:")
	for key, value := range map[string]string{"group": "GROUP", "version": "v1", "kind": "App", "role": "app"} {
		example = regexp.MustCompile("(?m)^([- ] "+key+": ).*").ReplaceAllString(example, "${1}"+value)
	}
	start := func(version int) func() {
		return e.start(strings.TrimRight(example, "\n") + fmt.Sprintf("\n  vars: {version: %d, dir: %s}\n", version, e.dir))
	}
	waitRuns := func(want string) {
		t.Helper()
		e.eventually("runs "+want, func() error {
			data, err := os.ReadFile(filepath.Join(e.dir, "runs.txt"))
			if got := strings.Join(strings.Fields(string(data)), ""); err == nil && got != want {
				err = errors.New(got)
			}
			return err
		})
	}
	stop := start(1)
	resources := map[string]*unstructured.Unstructured{}
	for _, name := range []string{"a", "b", "c", "d"} {
		resources[name] = e.resource("App", name, "spec: {}")
		e.waitReady(resources[name], "True/Successful")
	}
	waitRuns("abcd")
	stop()
	if err := os.Remove(filepath.Join(e.dir, "runs.txt")); err != nil {
		t.Fatal(err)
	}
	stop = start(2)
	e.waitReady(resources["b"], "False/Failed")
	obj := e.waitCondition(resources["c"], ansibleoperator.ConditionOutdated, "True/RolloutStopped")
	if ready := conditionOf(obj, "Ready"); ready["status"] != "True" {
		t.Errorf("Ready is %v while the resource waits", ready)
	}
	stop()
	e.options = append(e.options, ansibleoperator.WithBackoff(1))
	e.write("runs.txt", "")
	start(2)
	e.patch(resources["d"], "spec: {any: change}")
	e.waitReady(resources["d"], "True/Successful")
	e.waitCondition(resources["c"], ansibleoperator.ConditionOutdated, "True/RolloutStopped")
	data, err := os.ReadFile(filepath.Join(e.dir, "runs.txt"))
	if err != nil || strings.Contains(string(data), "c") || !strings.Contains(string(data), "d") {
		t.Errorf("%v, runs %q", err, data)
	}
	e.patch(resources["b"], "spec: {permitted: true}")
	e.waitReady(resources["b"], "True/Successful")
	e.eventually("c is upgraded", func() error {
		obj, err := e.read(resources["c"])
		if state, _, _ := unstructured.NestedMap(obj.Object, "status", "rollout"); err == nil &&
			(state["digest"] == nil || state["inProgress"] != nil || conditionOf(obj, ansibleoperator.ConditionOutdated) != nil) {
			err = fmt.Errorf("status %v", obj.Object["status"])
		}
		return err
	})
	data, err = os.ReadFile(filepath.Join(e.dir, "runs.txt"))
	if err != nil || strings.Count(string(data), "c") != 1 {
		t.Errorf("%v, runs %q", err, data)
	}
}
