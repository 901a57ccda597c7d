package ansibleoperator_test

import (
	"fmt"
	"testing"
)

// waitMetric waits until a gauge or counter of a kind of the test has a value. The labels are name and value in turn; nil is for no series.
func (e *env) waitMetric(kind, name string, want any, labels ...string) {
	e.Helper()
	selected := map[string]string{"group": e.group, "version": "v1", "kind": kind}
	for i := 0; i < len(labels); i += 2 {
		selected[labels[i]] = labels[i+1]
	}
	e.eventually(fmt.Sprint(name, selected), func() error {
		m := metric(e.T, "ansible_operator_"+name, selected)
		switch {
		case m == nil && want == nil, m != nil && m.GetGauge().GetValue()+m.GetCounter().GetValue() == want:
			return nil
		}
		return fmt.Errorf("%v, want %v", m, want)
	})
}

// waitConditions waits for the numbers of resources by the status of a condition: True, False and Unknown.
func (e *env) waitConditions(kind, condition string, want ...float64) {
	e.Helper()
	for i, status := range []string{"True", "False", "Unknown"} {
		e.waitMetric(kind, "resource_conditions", want[i], "condition", condition, "status", status)
	}
}

// TestMetricsOfRuns counts runs, tasks, kills and resources by condition.
func TestMetricsOfRuns(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App", "Slow", "Silent")
	e.environ = append(e.environ, "ANSIBLE_COLLECTIONS_PATH="+collections(t))
	e.role("app", `- ansible.builtin.debug: {msg: ok}
- ansible.builtin.command: "true"
- ansible.builtin.fail: {msg: skipped}
  when: false
- ansible.builtin.fail: {msg: ignored}
  ignore_errors: true
- block: [{ansible.builtin.fail: {msg: rescued}}]
  rescue: [{ansible.builtin.debug: {msg: rescue}}]
`)
	e.role("requeue", "- operator_sdk.util.requeue_after: {time: 1h}\n  when: text is defined\n"+hang)
	e.role("gone", "- ansible.builtin.debug: {msg: gone}\n")
	e.start("- {version: v1, group: GROUP, kind: App, role: app}\n" +
		"- {version: v1, group: GROUP, kind: Slow, role: requeue, vars: {marker: " + e.group + "}, finalizer: {name: example.com/gone, role: gone}}\n" +
		"- {version: v1, group: GROUP, kind: Silent, role: gone, manageStatus: false}\n")
	e.waitConditions("App", "Ready", 0, 0, 0)
	e.waitMetric("App", "runs_killed_total", 0.0, "reason", "SIGKILL")

	app := e.resource("App", "one", "spec: {}")
	slow := e.resource("Slow", "slow", "spec: {}")
	e.resource("Silent", "one", "spec: {}")
	e.waitReady(app, "True/Successful")
	e.waitConditions("App", "Ready", 1, 0, 0)
	e.waitConditions("App", "Failure", 0, 1, 0)
	e.waitMetric("App", "resource_not_ready_since_timestamp_seconds", nil)
	e.waitMetric("App", "runs_total", 1.0, "action", "reconcile", "result", "succeeded")
	for result, n := range map[string]float64{"ok": 4, "changed": 1, "skipped": 1, "ignored": 1, "rescued": 1, "failed": 0, "unreachable": 0} {
		e.waitMetric("App", "tasks_total", n, "result", result)
	}
	if m := metric(t, "ansible_operator_run_last_success_timestamp_seconds", map[string]string{"group": e.group, "kind": "App"}); m.GetGauge().GetValue() == 0 {
		t.Errorf("last success: %v", m)
	}
	e.waitMetric("Silent", "runs_total", 1.0, "action", "reconcile", "result", "succeeded")
	e.waitMetric("Silent", "resource_conditions", nil, "condition", "Ready")

	e.waitProcesses(e.group, true)
	e.waitMetric("Slow", "runs_in_progress", 1.0)
	e.waitConditions("Slow", "Ready", 0, 1, 0)
	e.resource("Slow", "requeued", "spec: {text: requeue}")
	e.waitMetric("Slow", "runs_total", 1.0, "action", "reconcile", "result", "requeued")
	e.waitConditions("Slow", "Ready", 0, 2, 0)
	e.delete(slow)
	e.waitMetric("Slow", "runs_killed_total", 1.0, "reason", "deleted")
	e.waitMetric("Slow", "runs_total", 1.0, "action", "finalize", "result", "succeeded")
	e.waitMetric("Slow", "runs_in_progress", 0.0)
	e.waitConditions("Slow", "Ready", 0, 1, 0)
}
