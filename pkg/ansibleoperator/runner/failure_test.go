package runner_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
	"github.com/operon-sdk/operon/pkg/ansibleoperator/variables"
)

func TestFailures(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	request := e.request("one", e.write("site.yml", `
- hosts: localhost
  gather_facts: false
  tasks:
  - {fail: {msg: ignored}, ignore_errors: true}
  - block: [{fail: {msg: rescued}}]
    rescue: [{debug: {msg: ok}}]
    always:
    - fail: {msg: "{{ item }}"}
      loop: [first, second]
      ignore_errors: true
  - block: [{fail: {msg: in block}}]
    always: [{command: "false"}]
- hosts: other
  gather_facts: false
  tasks: [{fail: {msg: not reached}}]
`))
	result := e.run(request)
	if got, want := result.Message(), "in block\nnon-zero return code"; got != want || !result.Failed() {
		t.Errorf("message %q, want %q", got, want)
	}
	if s := result.Stats; s.Failures != 2 || s.Ignored != 2 || s.Rescued != 1 {
		t.Errorf("%+v", s)
	}
	for tasks, want := range map[string]string{
		"- {shell: 'echo my-secret; exit 1', no_log: true}\n":    "the output has been hidden",
		"- {fail: {msg: '{{ item }}'}, loop: [first, second]}\n": "One or more items failed: first; second",
		"- {ping: {data: crash}}\n":                              "MODULE FAILURE",
		"- {ping: {}, delegate_to: away, vars: {ansible_connection: ssh, ansible_host: 127.0.0.1, ansible_port: 1}}\n": "Failed to connect to the host",
	} {
		result := e.run(e.playbook("two", tasks))
		if !result.Failed() || !strings.Contains(result.Message(), want) || strings.Contains(result.Message(), "my-secret") {
			t.Errorf("%s: message %q, want %q", tasks, result.Message(), want)
		}
	}
}

// killAncestor is a task that kills the process with a name that has started it.
func killAncestor(name string) string {
	return `
- debug: {msg: unrelated output}
- name: kill
  ansible.builtin.shell: |
    pid=$$
    while [ $pid -gt 1 ]; do
      pid=$(cut -d ' ' -f 4 /proc/$pid/stat)
      if grep -q '^` + name + `' /proc/$pid/comm; then found=$pid; fi
    done
    kill -9 $found
    sleep 300.1
`
}

func TestChildKilled(t *testing.T) {
	t.Parallel()
	requireLinux(t)
	for _, cold := range []bool{true, false} {
		e := newEnv(t, func(c *runner.Config) { c.Cold = cold })
		killed := map[string]string{"ansible-superv": runner.KilledBySupervisor}
		for name, want := range map[string]string{
			"ansible-play":   "the playbook did not run to its end: ansible-playbook was killed by SIGKILL in the task \"kill\" (module ansible.builtin.shell), after ok=1 changed=0 failed=0: ",
			"ansible-runner": "the playbook did not run to its end: ansible-runner was killed by SIGKILL in the task \"kill\"",
			"ansible-superv": "the supervisor of ansible-runner ended unexpectedly",
		} {
			result, err := e.runner.Run(t.Context(), e.playbook("one", killAncestor(name)))
			if want := cmp.Or(killed[name], "SIGKILL"); result == nil || result.Killed != want {
				t.Errorf("cold %t, %s: result %+v, want %s", cold, name, result, want)
			}
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "out of memory") || strings.Contains(err.Error(), "unrelated") {
				t.Errorf("cold %t, %s: error %v, want %s", cold, name, err, want)
			}
			eventually(t, func() string { // the system kills children of a killed process
				return strings.Join(processes(t, "sleep 300.1"), "\n")
			})
		}
		if result := e.run(e.playbook("one", "- ping:\n")); result.Failed() {
			t.Errorf("%+v", result)
		}
		if cold {
			continue
		}
		ended := 0
		for _, process := range processes(t, filepath.Join(e.root, ".op")) {
			pid, _, _ := strings.Cut(process, " ")
			if name, err := os.ReadFile("/proc/" + pid + "/comm"); err == nil && string(name) == "ansible-warm\n" {
				n, _ := strconv.Atoi(pid)
				ended++
				if warm, err := os.FindProcess(n); err != nil || warm.Kill() != nil {
					t.Errorf("process %d cannot be killed", n)
				}
			}
		}
		if ended != 1 {
			t.Errorf("%d processes are warm interpreters", ended)
		}
		for range 2 {
			if result := e.run(e.playbook("one", "- ping:\n")); result.Failed() {
				t.Errorf("%+v", result)
			}
		}
	}
}

// TestTaskKilled checks that a task whose process was killed is reported with the signal, after the message that it has anyway.
func TestTaskKilled(t *testing.T) {
	t.Parallel()
	requireLinux(t)
	e := newEnv(t)
	for tasks, want := range map[string]string{
		"- name: convert\n  ansible.builtin.shell: sh -c 'kill -9 $$'; exit $?\n": `non-zero return code
a process was killed by SIGKILL in the task "convert" (module ansible.builtin.shell, host localhost): most likely out of memory: `,
		"- ansible.builtin.command: sh -c 'kill -15 $$'\n": `non-zero return code
a process was killed by SIGTERM in the task "ansible.builtin.command" (module ansible.builtin.command, host localhost): something other than the operator ended it`,
		"- ansible.builtin.shell: 'kill -9 $PPID; sleep 1'\n":        "a process was killed by SIGKILL in the task",
		"- ansible.builtin.shell: exit 1\n":                          "non-zero return code",
		"- {ansible.builtin.shell: exit 137, ignore_errors: true}\n": "",
	} {
		result := e.run(e.playbook("one", tasks))
		if got := result.Message(); !strings.Contains(got, want) || strings.Contains(got, "was killed") != strings.Contains(want, "was killed") || result.Failed() != (want != "") {
			t.Errorf("%s: message %q, want %q", tasks, got, want)
		}
	}
}

func TestRequeueAfter(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(c *runner.Config) {
		collections, err := filepath.Abs("../../../testdata/ansible/collections")
		if err != nil {
			t.Fatal(err)
		}
		c.CollectionsPaths = []string{collections}
	})
	e.write("library/requeue_after.py", `#!/usr/bin/python
from ansible.module_utils.basic import AnsibleModule
module = AnsibleModule(argument_spec={"result": {"type": "dict"}, "fail": {"type": "bool"}})
if module.params["fail"]:
    module.fail_json(msg="failed", period="1s")
module.exit_json(**module.params["result"])
`)
	for tasks, want := range map[string]time.Duration{
		"- operator_sdk.util.requeue_after: {time: 1m30s}\n- command: sleep 300.2\n":                                                   90 * time.Second,
		"- block: [{requeue_after: {result: {period: 5m}}}]\n- command: sleep 300.2\n":                                                 5 * time.Minute,
		"- {operator_sdk.util.requeue_after: {time: no}, ignore_errors: true}\n- {requeue_after: {fail: true}, ignore_errors: true}\n": 0,
		"- requeue_after: {result: {}}\n- requeue_after: {result: {period: 5}}\n- debug: {msg: {period: 5m}}\n":                        0,
	} {
		result := e.run(e.playbook("one", tasks))
		if want == 0 && (result.RequeueAfter != nil || result.Failed() || result.Stats.OK == 0) || want != 0 && (result.RequeueAfter == nil || *result.RequeueAfter != want) {
			t.Errorf("%s: %+v, want %s", tasks, result, want)
		}
		if found := processes(t, "sleep 300.2"); len(found) > 0 {
			t.Errorf("processes remain: %v", found)
		}
	}
	result := e.run(e.playbook("one", "- requeue_after: {result: {period: soon}}\n"))
	if want := `requeue_after: period "soon": must be a duration such as 30s or 5m`; result.Message() != want {
		t.Errorf("message %q, want %q", result.Message(), want)
	}
}

// TestMarkUnsafe checks that templates in a custom resource are evaluated only if they are not marked.
func TestMarkUnsafe(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for _, marked := range []bool{true, false} {
		executed := filepath.Join(e.dir, "executed")
		template := "{{ lookup('pipe', 'touch " + executed + "') }}"
		request := e.playbook("one", `
- debug: {msg: "{{ my_text }} {{ my_map }} {{ my_list | first }} {{ _cache_example_com_memcached_spec.myText }} {{ _cache_example_com_memcached.spec.myMap.a }}"}
- copy: {dest: `+e.dir+`/copy, content: "{{ my_text }}"}
- assert: {that: [my_number == 1, my_text | length > 5, ansible_operator_meta.name == 'one']}
`)
		var err error
		request.Variables, err = variables.Of(variables.Input{
			GVK: gvk, SnakeCase: true, MarkUnsafe: marked,
			Object: map[string]any{
				"metadata": map[string]any{"name": "one", "namespace": "default"},
				"spec": map[string]any{
					"myText": template, "myMap": map[string]any{"a": template}, "myList": []any{template}, "myNumber": int64(1),
				},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		result := e.run(request)
		if marked && result.Failed() {
			t.Errorf("%+v", result)
		}
		if got := exists(executed); got != !marked {
			t.Errorf("marked %t: executed %t", marked, got)
		}
	}
}
