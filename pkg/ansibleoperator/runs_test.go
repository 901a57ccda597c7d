package ansibleoperator_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/operon-sdk/operon/pkg/ansibleoperator"
)

// hang is a task that does not end. Its processes have the value of marker in their environment.
const hang = `- ansible.builtin.command: sleep 1000
  environment: {OPERON_TEST_MARKER: "{{ marker }}"}
`

// processes returns the processes with a marker.
func processes(marker string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // none are an error of the callers
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), "OPERON_TEST_MARKER="+marker+"\x00") {
			found = append(found, filepath.Base(filepath.Dir(file)))
		}
	}
	return found
}

// waitProcesses waits until a run with a marker has or has no processes.
func (e *env) waitProcesses(marker string, running bool) {
	e.Helper()
	e.eventually("processes of "+marker, func() error {
		if found := processes(marker); (len(found) > 0) != running {
			return fmt.Errorf("processes %q", found)
		}
		return nil
	})
}

// TestTimeout checks that a run is ended at its limit, while other resources are reconciled.
func TestTimeout(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	e.role("app", hang+"  when: text == \"hang\"\n"+configMap)
	e.start("- {version: v1, group: GROUP, kind: App, role: app, runTimeout: 20s, vars: {marker: " + e.group + "}}\n")
	hanging := e.resource("App", "hanging", "spec: {text: hang}")
	e.waitProcesses(e.group, true)
	e.waitReady(e.resource("App", "other", "spec: {text: x}"), "True/Successful")
	hanging = e.waitReady(hanging, "False/TimedOut")
	if m := metric(t, "ansible_operator_runs_killed_total", map[string]string{"group": e.group, "reason": "timeout"}); m.GetCounter().GetValue() < 1 {
		t.Errorf("runs killed by the timeout: %v", m)
	}
	if c := conditionOf(hanging, "Failure"); c["status"] != "True" || !strings.Contains(fmt.Sprint(c["message"]), "time limit of 20s") {
		t.Errorf("Failure is %v", c)
	}
	e.patch(hanging, "spec: {text: other}")
	e.waitReady(hanging, "True/Successful")
	e.waitProcesses(e.group, false)
}

// TestDeletedDuringRun checks that the run of a deleted resource is ended, and its directory removed; with a finalizer, that its run follows.
func TestDeletedDuringRun(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App", "Final")
	e.role("app", hang)
	e.role("gone", "- ansible.builtin.debug: {msg: finalizing}\n")
	e.start("- {version: v1, group: GROUP, kind: App, role: app, vars: {marker: " + e.group + "-app}}\n" +
		"- {version: v1, group: GROUP, kind: Final, role: app, vars: {marker: " + e.group + "-final}, finalizer: {name: example.com/gone, role: gone}}\n")
	app, final := e.resource("App", "one", "spec: {}"), e.resource("Final", "one", "spec: {}")
	e.waitProcesses(e.group+"-app", true)
	e.waitProcesses(e.group+"-final", true)
	current := e.waitCondition(app, "Running", "True/Running")
	if c := conditionOf(current, "Ready"); c == nil || c["status"] != "False" || c["reason"] != "Running" {
		t.Errorf("Ready is %v during the first run", c)
	}
	if c := conditionOf(current, "Successful"); c == nil || c["status"] != "False" {
		t.Errorf("Successful is %v during the first run", c)
	}
	e.delete(app)
	e.waitProcesses(e.group+"-app", false)
	e.eventually("the directory of runs is removed", func() error {
		if _, err := os.Stat(e.runDirectory("App", "one")); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("it exists (%w)", err)
		}
		return nil
	})
	e.delete(final)
	e.waitProcesses(e.group+"-final", false)
}

// TestShutdown checks that the end of the manager ends all runs, without a failure in the status, and removes their directories.
func TestShutdown(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	e.role("app", hang)
	stop := e.start("- {version: v1, group: GROUP, kind: App, role: app, vars: {marker: " + e.group + "}}\n")
	app := e.resource("App", "one", "spec: {}")
	e.waitProcesses(e.group, true)
	stop()
	if found := processes(e.group); len(found) > 0 {
		t.Errorf("processes %q are left", found)
	}
	if _, err := os.Stat(e.runDirectory("App", "one")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory of runs is left (%v)", err)
	}
	app, err := e.read(app)
	if c := conditionOf(app, "Failure"); err != nil || c["status"] != "False" {
		t.Errorf("Failure is %v (%v)", c, err)
	}
}

// TestRequeueAfter checks that the module ends the run, and that another one follows after the delay.
func TestRequeueAfter(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	e.environ = append(e.environ, "ANSIBLE_COLLECTIONS_PATH="+collections(t))
	e.role("app", `- ansible.builtin.stat: {path: "{{ dir }}/permitted"}
  register: permitted
- operator_sdk.util.requeue_after: {time: 1s}
  when: not permitted.stat.exists
- ansible.builtin.command: sleep 1000
  environment: {OPERON_TEST_MARKER: "{{ marker }}"}
  when: not permitted.stat.exists
`)
	e.start("- {version: v1, group: GROUP, kind: App, role: app, vars: {marker: " + e.group + ", dir: " + e.dir + "}}\n")
	app := e.waitReady(e.resource("App", "one", "spec: {}"), "False/Requeued")
	if c := conditionOf(app, "Ready"); c["message"] != "The run requested another one after 1s" {
		t.Errorf("Ready is %v", c)
	}
	if c := conditionOf(app, "Running"); c["status"] != "True" || c["reason"] != "Running" {
		t.Errorf("Running is %v, want it as in operator-sdk", c)
	}
	e.write("permitted", "")
	e.waitReady(app, "True/Successful")
	if found := processes(e.group); len(found) > 0 {
		t.Errorf("processes %q are left", found)
	}
}

// collections returns the directory of the collection operator_sdk.util.
func collections(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../testdata/ansible/collections")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestUnusualResources checks that resources, kinds and groups do not affect each other.
func TestUnusualResources(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App", "ClusterApp", "Silent", "Syntax")
	second := "second." + e.group
	e.createKind(second, "App", openSchema)
	e.role("app", configMap)
	e.role("second", strings.ReplaceAll(configMap, `.name }}"`, `.name }}-second"`))
	e.role("cluster", strings.ReplaceAll(configMap, "ansible_operator_meta.namespace", "namespace"))
	e.role("syntax", "- no_such_module: {}\n  loops: : :\n")
	e.start(`- {version: v1, group: GROUP, kind: App, role: app}
- {version: v1, group: second.GROUP, kind: App, role: second}
- {version: v1, group: GROUP, kind: ClusterApp, role: cluster, vars: {namespace: ` + e.namespace + `}}
- {version: v1, group: GROUP, kind: Silent, role: app, manageStatus: false, selector: {matchLabels: {mine: "yes"}}}
- {version: v1, group: GROUP, kind: Syntax, role: syntax}
- {version: v1, group: GROUP, kind: Later, role: app}
`)
	broken := e.resource("App", "broken", "spec: text")
	syntax := e.resource("Syntax", "syntax", "spec: {}")
	huge := e.resource("App", "huge", "spec: {text: huge, more: "+strings.Repeat("0123456789", 1<<16)+"}")
	app := e.resource("App", "one", "spec: {text: first}")
	other := e.create("apiVersion: " + second + "/v1\nkind: App\nmetadata: {namespace: " + e.namespace + ", name: one}\nspec: {text: other}")
	cluster := e.resource("ClusterApp", "cluster-"+e.namespace, "spec: {text: cluster}")
	ignored := e.resource("Silent", "ignored", "spec: {text: x}")
	silent := e.resource("Silent", "silent", "spec: {text: silent}")
	e.patch(silent, "metadata: {labels: {mine: 'yes'}}")
	e.waitReady(app, "True/Successful")
	e.waitReady(other, "True/Successful")
	e.waitReady(cluster, "True/Successful")
	e.waitReady(huge, "True/Successful")
	for name, text := range map[string]string{"one": "first", "one-second": "other", cluster.GetName(): "cluster"} {
		if err := e.checkText(name, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken = e.waitReady(broken, "False/Failed")
	if c := conditionOf(broken, "Failure"); c["message"] != "spec must be an object" {
		t.Errorf("Failure is %v", c)
	}
	syntax = e.waitReady(syntax, "False/Failed")
	if c := conditionOf(syntax, "Failure"); !strings.Contains(fmt.Sprint(c["message"]), "tasks/main.yml") {
		t.Errorf("Failure is %v", c)
	}
	e.eventually("the run without status", func() error { return e.checkText("silent", "silent") })
	for _, obj := range []string{"silent", "ignored"} {
		current, err := e.get(e.group+"/v1", "Silent", obj)
		if err != nil || current.Object["status"] != nil {
			t.Errorf("%s: status %v (%v)", obj, current.Object["status"], err)
		}
	}
	if _, err := e.get("v1", "ConfigMap", ignored.GetName()); err == nil {
		t.Error("a resource that is not selected was reconciled")
	}
	// The kind did not exist at the start.
	e.createKind(e.group, "Later", openSchema)
	e.waitReady(e.resource("Later", "later", "spec: {text: later}"), "True/Successful")
}

// TestCoreKinds checks that objects of Kubernetes itself can be reconciled, and that the contents of Secrets are not logged.
func TestCoreKinds(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.role("secret", `- ansible.builtin.copy: {content: "{{ __secret.metadata.name }}", dest: "{{ dir }}/{{ ansible_operator_meta.name }}"}
- ansible.builtin.fail: {msg: "cannot use {{ __secret.data.key | b64decode }}"}
`)
	e.start("- {version: v1, group: '', kind: Secret, role: secret, manageStatus: false, vars: {dir: " + e.dir + "}, selector: {matchLabels: {test: " + e.namespace + "}}}\n")
	e.create("{apiVersion: v1, kind: Secret, metadata: {namespace: " + e.namespace + ", name: a, labels: {test: " + e.namespace + "}}, stringData: {key: contents-of-key}}")
	e.eventually("the run has failed", func() error {
		if log := e.log.String(); !strings.Contains(log, "cannot use [redacted]") {
			return errors.New(log)
		}
		return nil
	})
	if got, err := os.ReadFile(filepath.Join(e.dir, "a")); err != nil || string(got) != "a" {
		t.Errorf("the name of the Secret is %q (%v)", got, err)
	}
	if log := e.log.String(); strings.Contains(log, "contents-of-key") || strings.Contains(log, "schema cannot be read") {
		t.Errorf("log:\n%s", log)
	}
}

// TestAnnotations checks the period of the annotation, and that changes of annotations trigger a run if they are watched.
func TestAnnotations(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App", "Watched")
	e.role("app", "- ansible.builtin.debug: {msg: x}\n")
	e.start("- {version: v1, group: GROUP, kind: App, role: app}\n- {version: v1, group: GROUP, kind: Watched, role: app, watchAnnotationsChanges: true}\n")
	app := e.resource("App", "one", "spec: {}")
	invalid := e.create("apiVersion: " + e.group + "/v1\nkind: Watched\nmetadata: {namespace: " + e.namespace +
		", name: invalid, annotations: {ansible.sdk.operatorframework.io/verbosity: loud, ansible.sdk.operatorframework.io/max-runner-artifacts: '-1'}}")
	invalid = e.waitReady(invalid, "False/Failed")
	message := fmt.Sprint(conditionOf(invalid, "Failure")["message"])
	if !strings.Contains(message, `verbosity "loud": must be a number from 0 to 7`) || !strings.Contains(message, `max-runner-artifacts "-1"`) {
		t.Errorf("Failure is %q", message)
	}
	e.patch(invalid, "metadata: {annotations: {ansible.sdk.operatorframework.io/verbosity: '0', ansible.sdk.operatorframework.io/max-runner-artifacts: '2'}}")
	e.waitReady(invalid, "True/Successful")
	app = e.waitReady(app, "True/Successful")
	first := fmt.Sprint(conditionOf(app, "Running")["ansibleResult"])
	e.patch(app, "{metadata: {annotations: {ansible.sdk.operatorframework.io/reconcile-period: 1s}}, spec: {a: b}}")
	runs := map[string]bool{first: true}
	e.eventually("periodic runs", func() error {
		current, err := e.read(app)
		if c := conditionOf(current, "Running"); c["ansibleResult"] != nil {
			runs[fmt.Sprint(c["ansibleResult"])] = true
		}
		if len(runs) < 4 {
			return fmt.Errorf("%d runs (%w)", len(runs), err)
		}
		return nil
	})
}

// TestGracePeriod checks that the manager stops in time although tasks ignore SIGTERM.
func TestGracePeriod(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	e.role("app", "- ansible.builtin.shell: trap '' TERM; while true; do sleep 1; done\n  environment: {OPERON_TEST_MARKER: \"{{ marker }}\"}\n")
	stop := e.start("- {version: v1, group: GROUP, kind: App, role: app, vars: {marker: "+e.group+"}}\n", func(_ *ansibleoperator.Settings, o *manager.Options) {
		grace := time.Minute
		o.GracefulShutdownTimeout = &grace
	})
	e.resource("App", "one", "spec: {}")
	e.waitProcesses(e.group, true)
	stop()
	if found := processes(e.group); len(found) > 0 {
		t.Errorf("processes %q are left", found)
	}
}
