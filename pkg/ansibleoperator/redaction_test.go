package ansibleoperator_test

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/operon-sdk/operon/pkg/ansibleoperator"
	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
)

// TestSecretsOfOperator checks that secrets in the environment of the operator, which runs inherit, are neither in the status nor in logs.
func TestSecretsOfOperator(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	e.environ = append(e.environ, "VENDOR_API_TOKEN=token-of-the-operator", "UPSTREAM=https://me:password-of-proxy@proxy.example.com")
	e.role("app", `- name: "send {{ lookup('env', 'VENDOR_API_TOKEN') }}"
  ansible.builtin.fail: {msg: "refused {{ lookup('env', 'VENDOR_API_TOKEN') }} by {{ lookup('env', 'UPSTREAM') }}"}
`)
	var output strings.Builder
	stop := e.start("- {version: v1, group: GROUP, kind: App, role: app}\n", func(s *ansibleoperator.Settings, _ *manager.Options) {
		s.LogEvents, s.Output = runner.Everything, &output
	})
	app := e.waitReady(e.resource("App", "one", "spec: {}"), "False/Failed")
	stop()
	if got := conditionOf(app, "Failure")["message"]; got != "refused [redacted] by https://me:[redacted]@proxy.example.com" {
		t.Errorf("message %q", got)
	}
	for name, text := range map[string]string{"log": e.log.String(), "output": output.String(), "status": fmt.Sprint(app.Object["status"])} {
		if text == "" || strings.Contains(text, "token-of-the") || strings.Contains(text, "password-of") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestEndedRun checks that the condition of a run that ended early has its task and cause, but no output of Ansible.
func TestEndedRun(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App", "Slow", "Broken")
	e.role("app", `- ansible.builtin.debug: {msg: unrelated output}
- name: use too much
  ansible.builtin.shell: |
    pid=$$
    while [ $pid -gt 1 ]; do
      pid=$(cut -d ' ' -f 4 /proc/$pid/stat)
      if grep -q '^ansible-play' /proc/$pid/comm; then found=$pid; fi
    done
    kill -9 $found
    sleep 300
`)
	e.role("slow", "- ansible.builtin.debug: {msg: unrelated output}\n- {name: wait, ansible.builtin.command: sleep 1000}\n")
	e.role("broken", "- ansible.builtin.no_such_module: {text: unrelated output}\n")
	e.start("- {version: v1, group: GROUP, kind: App, role: app}\n- {version: v1, group: GROUP, kind: Slow, role: slow, runTimeout: 15s}\n" +
		"- {version: v1, group: GROUP, kind: Broken, role: broken}\n")
	killed, slow, broken := e.resource("App", "one", "spec: {}"), e.resource("Slow", "one", "spec: {}"), e.resource("Broken", "one", "spec: {}")
	for _, c := range []struct{ got, want string }{
		{fmt.Sprint(conditionOf(e.waitReady(killed, "False/Failed"), "Failure")["message"]),
			`ansible-playbook was killed by SIGKILL in the task "app : use too much" (module ansible.builtin.shell), after ok=1 changed=0 failed=0: `},
		{fmt.Sprint(conditionOf(e.waitReady(slow, "False/TimedOut"), "Ready")["message"]), "the run exceeded its time limit of 15s "},
		{fmt.Sprint(conditionOf(e.waitReady(broken, "False/Failed"), "Failure")["message"]), "see the log of the operator"},
	} {
		if !strings.Contains(c.got, c.want) || strings.Contains(c.got, "unrelated") || strings.Contains(c.got, "no_such_module") {
			t.Errorf("message %q, want %q", c.got, c.want)
		}
	}
	if !strings.Contains(e.log.String(), "no_such_module") {
		t.Error("the log does not contain the cause")
	}
}
