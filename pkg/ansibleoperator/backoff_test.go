package ansibleoperator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/ansibleoperator"
)

// checkRuns returns an error if a resource had another number of runs of a role that writes a line in each.
func (e *env) checkRuns(name string, want int) error {
	data, err := os.ReadFile(filepath.Join(e.dir, name+".runs"))
	if got := strings.Count(string(data), "\n"); err != nil || got != want {
		return fmt.Errorf("%d runs, want %d (%v)", got, want, err)
	}
	return nil
}

// TestChangesDuringBackoff checks that changes of a resource and of its objects start a run while it waits for another try, except for
// the changes that the failing run makes itself.
func TestChangesDuringBackoff(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	e.options = append(e.options, ansibleoperator.WithBackoff(24*time.Hour))
	e.role("app", `- ansible.builtin.command: date +%N
  register: now
- kubernetes.core.k8s:
    definition:
      apiVersion: v1
      kind: "{{ item }}"
      metadata: {namespace: "{{ ansible_operator_meta.namespace }}", name: "{{ ansible_operator_meta.name }}"}
      `+"\"{{ 'stringData' if item == 'Secret' else 'data' }}\": {changed: \"{{ now.stdout }}\"}"+`
  loop: [ConfigMap, Secret]
- kubernetes.core.k8s_info:
    {api_version: v1, kind: ConfigMap, namespace: "{{ ansible_operator_meta.namespace }}", name: "{{ ansible_operator_meta.name }}"}
  register: found
# The run has seen changes from before this task.
- ansible.builtin.shell: echo run >> {{ dir }}/{{ ansible_operator_meta.name }}.runs
- ansible.builtin.fail: {msg: not permitted}
  when: found.resources[0].data.permitted | default("no") != "yes" and not permitted | default(false)
`)
	e.write("app.yml", "- {hosts: localhost, gather_facts: false, roles: [app]}\n")
	e.start("- {version: v1, group: GROUP, kind: App, playbook: app.yml, vars: {dir: " + e.dir + "}}\n")
	one, two := e.resource("App", "one", "spec: {}"), e.resource("App", "two", "spec: {}")
	e.waitReady(one, "False/Failed")
	e.waitReady(two, "False/Failed")
	for i, change := range []struct{ kind, patch string }{
		{"ConfigMap", "data: {other: a}"}, {"Secret", "stringData: {other: b}"}, {"ConfigMap", "data: {permitted: 'yes'}"},
	} {
		obj, err := e.get("v1", change.kind, "one")
		if err != nil {
			t.Fatal(err)
		}
		e.patch(obj, change.patch)
		e.eventually("a run after "+change.patch, func() error { return e.checkRuns("one", i+2) })
	}
	e.waitReady(one, "True/Successful")
	e.patch(two, "spec: {permitted: true}")
	e.waitReady(two, "True/Successful")
	for name, want := range map[string]int{"one": 4, "two": 2} {
		if err := e.checkRuns(name, want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// An invalid annotation is reported, and corrected without another change.
	three := e.create(fmt.Sprintf("{apiVersion: %s/v1, kind: App, metadata: {namespace: %s, name: three, annotations: {%s: none}}, spec: {permitted: true}}",
		e.group, e.namespace, ansibleoperator.AnnotationVerbosity))
	e.waitReady(three, "False/Failed")
	e.patch(three, "metadata: {annotations: {"+ansibleoperator.AnnotationVerbosity+": '1'}}")
	e.waitReady(three, "True/Successful")
	if err := e.checkRuns("three", 1); err != nil {
		t.Error(err)
	}
}
