package ansibleoperator_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// configMap is a task that creates a ConfigMap named after the resource, with the variable text.
const configMap = `- kubernetes.core.k8s:
    definition:
      apiVersion: v1
      kind: ConfigMap
      metadata:
        namespace: "{{ ansible_operator_meta.namespace }}"
        name: "{{ ansible_operator_meta.name }}"
      data:
        text: "{{ text }}"
`

// text returns the text in a ConfigMap of configMap, or an error if it is another one.
func (e *env) checkText(name, want string) error {
	cm, err := e.get("v1", "ConfigMap", name)
	if err != nil {
		return err
	}
	if got := fmt.Sprint(cm.Object["data"]); got != "map[text:"+want+"]" {
		return fmt.Errorf("data %s, want the text %s", got, want)
	}
	return nil
}

// runDirectory returns the directory of a resource.
func (e *env) runDirectory(kind, name string) string {
	return filepath.Join(e.runs, e.group, "v1", kind, e.namespace, name)
}

var completion = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$`)

// TestLifecycle creates, changes and deletes a resource and checks its status in detail.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	e.role("app", configMap+`- ansible.builtin.fail:
    msg: "cannot use {{ app_password }} or {{ text }}"
  when: text == "broken"
`)
	e.start("- {version: v1, group: GROUP, kind: App, role: app, vars: {unused: 1}}\n")
	app := e.resource("App", "one", "spec: {text: first, appPassword: hunter2-is-long}")
	app = e.waitReady(app, "True/Successful")
	if err := e.checkText("one", "first"); err != nil {
		t.Fatal(err)
	}
	cm, _ := e.get("v1", "ConfigMap", "one") // it exists
	if owners := cm.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != app.GetUID() {
		t.Errorf("owners %v", owners)
	}
	running := conditionOf(app, "Running")
	result, _ := running["ansibleResult"].(map[string]any)
	if running["status"] != "True" || running["reason"] != "Successful" || running["message"] != "Awaiting next reconciliation" ||
		result["ok"] != int64(1) || result["changed"] != int64(1) || result["skipped"] != int64(1) || result["failures"] != int64(0) ||
		!completion.MatchString(fmt.Sprint(result["completion"])) {
		t.Errorf("Running is %v", running)
	}
	for kind, want := range map[string]string{"Successful": "True Successful Last reconciliation succeeded", "Failure": "False  "} {
		if c := conditionOf(app, kind); fmt.Sprint(c["status"], " ", c["reason"], " ", c["message"]) != want || c["observedGeneration"] != nil {
			t.Errorf("%s is %v", kind, c)
		}
	}
	if status := app.Object["status"].(map[string]any); status["observedGeneration"] != int64(1) {
		t.Errorf("observedGeneration %v", status["observedGeneration"])
	}

	// Keys and conditions that others write survive.
	status := client.RawPatch("application/merge-patch+json", []byte(`{"status": {"mine": "kept"}}`))
	if err := e.client.Status().Patch(t.Context(), app, status); err != nil {
		t.Fatal(err)
	}
	e.patch(app, "spec: {text: broken}")
	app = e.waitReady(app, "False/Failed")
	failure := conditionOf(app, "Failure")
	result, _ = failure["ansibleResult"].(map[string]any)
	if message := fmt.Sprint(failure["message"]); failure["status"] != "True" || failure["reason"] != "Failed" ||
		message != "cannot use [redacted] or broken" || result["failures"] != int64(1) {
		t.Errorf("Failure is %v", failure)
	}
	if c := conditionOf(app, "Running"); c["status"] != "False" || c["reason"] != "Running" || c["ansibleResult"] != nil {
		t.Errorf("Running is %v", c)
	}
	if c := conditionOf(app, "Successful"); c["status"] != "False" || c["reason"] != "" {
		t.Errorf("Successful is %v", c)
	}
	e.patch(app, "spec: {text: second}")
	app = e.waitReady(app, "True/Successful")
	if c := conditionOf(app, "Failure"); c["status"] != "False" || c["reason"] != "" || c["ansibleResult"] != nil {
		t.Errorf("Failure is %v", c)
	}
	if app.Object["status"].(map[string]any)["mine"] != "kept" {
		t.Errorf("status %v", app.Object["status"])
	}
	if strings.Contains(e.log.String(), "hunter2") {
		t.Errorf("the log contains the password:\n%s", e.log)
	}

	dir := e.runDirectory("App", "one")
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("the directory of runs: %v", err)
	}
	e.delete(app)
	e.eventually("the directory of runs is removed", func() error {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("it exists (%w)", err)
		}
		return nil
	})
}

// TestFinalizer checks that the finalizer runs with its own variables before a resource is removed, is repeated after a failure, and that
// an unchanged role runs for a finalizer with variables only.
func TestFinalizer(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App", "Other")
	const record = `- ansible.builtin.copy:
    content: "{{ state | default('present') }}"
    dest: "{{ record }}/{{ ansible_operator_meta.name }}"
`
	e.role("app", record)
	e.role("gone", `- ansible.builtin.stat: {path: "{{ record }}/permitted"}
  register: permitted
- ansible.builtin.fail: {msg: not permitted yet}
  when: not permitted.stat.exists
`+record)
	e.start(strings.ReplaceAll(`- version: v1
  group: GROUP
  kind: App
  role: app
  vars: {record: DIR}
  finalizer: {name: example.com/gone, role: gone, vars: {state: gone}}
- version: v1
  group: GROUP
  kind: Other
  role: app
  vars: {record: DIR}
  finalizer: {name: example.com/other, vars: {state: absent}}
`, "DIR", e.dir))
	app, other := e.resource("App", "app", "spec: {}"), e.resource("Other", "other", "spec: {state: ignored}")
	e.waitReady(app, "True/Successful")
	if app, _ = e.read(app); fmt.Sprint(app.GetFinalizers()) != "[example.com/gone]" {
		t.Errorf("finalizers %q", app.GetFinalizers())
	}
	e.waitReady(other, "True/Successful")
	if err := e.client.Delete(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	e.delete(other)
	if got, _ := os.ReadFile(filepath.Join(e.dir, "other")); string(got) != "absent" {
		t.Errorf("other was finalized with %q", got)
	}
	if c := conditionOf(e.waitCondition(app, "Failure", "True/Failed"), "Failure"); c["message"] != "not permitted yet" {
		t.Errorf("Failure is %v", c)
	}
	e.write("permitted", "")
	e.waitGone(app)
	if got, _ := os.ReadFile(filepath.Join(e.dir, "app")); string(got) != "gone" {
		t.Errorf("app was finalized with %q", got)
	}
}

// TestFailedRunsAfterRestart checks that the artifacts of failed runs outlive the operator, unless their resources don't exist any more.
func TestFailedRunsAfterRestart(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	e.role("app", "- ansible.builtin.fail: {msg: cause}\n")
	const entry = "- {version: v1, group: GROUP, kind: App, role: app}\n"
	stop := e.start(entry)
	kept, gone := e.resource("App", "kept", "spec: {}"), e.resource("App", "gone", "spec: {}")
	e.waitReady(kept, "False/Failed")
	e.waitReady(gone, "False/Failed")
	stop()
	outputs := func(name string) []string {
		found, _ := filepath.Glob(filepath.Join(e.runDirectory("App", name), "artifacts", "*", "stdout"))
		return found
	}
	before := outputs("kept")
	if len(before) != 1 || len(outputs("gone")) != 1 {
		t.Fatalf("artifacts %q, %q", before, outputs("gone"))
	}
	e.delete(gone)
	e.start(entry)
	e.eventually("the artifacts of a resource that doesn't exist are removed", func() error {
		if _, err := os.Stat(e.runDirectory("App", "gone")); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("it exists (%w)", err)
		}
		return nil
	})
	if _, err := os.Stat(before[0]); err != nil {
		t.Error(err)
	}
}
