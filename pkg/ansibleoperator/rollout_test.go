package ansibleoperator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/ansibleoperator"
	"github.com/operon-sdk/operon/testdata/documented"
)

func stateOf(obj *unstructured.Unstructured) map[string]any {
	state, _, _ := unstructured.NestedMap(obj.Object, "status", "rollout")
	return state
}

// TestRollout runs a new version of a role one resource after the other, as the example of docs/ansible.md says, stops after a failure,
// and goes on when it is gone.
func TestRollout(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	e.options = append(e.options, ansibleoperator.WithBackoff(24*time.Hour))
	// The run of resource b fails in version 2, unless the spec says otherwise.
	e.role("app", `- ansible.builtin.shell: echo {{ ansible_operator_meta.name }} >> {{ dir }}/runs.txt
- ansible.builtin.fail: {msg: not permitted}
  when: "version == 2 and ansible_operator_meta.name == 'b' and not permitted | default(false)"
`)
	example := documented.Example(t, "ansible.md", "- version: ", "rollout:")
	for key, value := range map[string]string{"group": "GROUP", "version": "v1", "kind": "App", "role": "app"} {
		example = regexp.MustCompile("(?m)^([- ] "+key+": ).*").ReplaceAllString(example, "${1}"+value)
	}
	start := func(version int) func() {
		return e.start(strings.TrimRight(example, "\n") + fmt.Sprintf("\n  vars: {version: %d, dir: %s}\n", version, e.dir))
	}
	stop := start(1)
	resources := map[string]*unstructured.Unstructured{}
	for _, name := range []string{"a", "b", "c"} {
		resources[name] = e.resource("App", name, "spec: {}")
	}
	for _, obj := range resources {
		e.waitReady(obj, "True/Successful")
	}
	stop()
	if err := os.Remove(filepath.Join(e.dir, "runs.txt")); err != nil {
		t.Fatal(err)
	}
	start(2)
	b := e.waitReady(resources["b"], "False/Failed")
	if state := stateOf(b); state["inProgress"] != true {
		t.Errorf("state of the failed resource %v", state)
	}
	c := e.waitCondition(resources["c"], ansibleoperator.ConditionOutdated, "True/RolloutStopped")
	if ready := conditionOf(c, "Ready"); ready["status"] != "True" {
		t.Errorf("Ready is %v while the resource waits", ready)
	}
	e.patch(resources["b"], "spec: {permitted: true}")
	e.eventually("c is upgraded", func() error {
		obj, err := e.read(resources["c"])
		if state := stateOf(obj); err == nil && (state["digest"] != stateOf(b)["digest"] ||
			state["inProgress"] != nil || conditionOf(obj, ansibleoperator.ConditionOutdated) != nil) {
			err = fmt.Errorf("status %v", obj.Object["status"])
		}
		return err
	})
	data, err := os.ReadFile(filepath.Join(e.dir, "runs.txt"))
	if got := strings.Join(strings.Fields(string(data)), ""); err != nil || got != "abbc" {
		t.Errorf("%v, runs %s", err, got)
	}
}
