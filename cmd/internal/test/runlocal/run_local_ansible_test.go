//go:build unix

package runlocal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/testdata/ansible"
)

// greetingTasks are tasks of a role that writes the spec of a custom resource to a ConfigMap.
const greetingTasks = `---
- name: Write the greeting
  kubernetes.core.k8s:
    definition:
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: "{{ ansible_operator_meta.name }}"
        namespace: "{{ ansible_operator_meta.namespace }}"
      data:
        greeting: "{{ greeting | default('Hello') }}"
`

const (
	greeting     = "greeting/greeting-sample"
	greetingText = "jsonpath={.data.greeting}"
	readyStatus  = `jsonpath={.status.conditions[?(@.type=="Ready")].status}`
)

// newGreetings creates an Ansible project, and returns its directory and the variable with the runtime.
func newGreetings(t *testing.T) (dir, variable string) {
	t.Helper()
	ansible.Require(t)
	clitest.SkipIfShort(t, "it starts control planes")
	program, err := clitest.Runtime()
	if err != nil {
		t.Fatal(err)
	}
	dir = clitest.NewProject(t, "init --plugins ansible --domain example.com --group demo --version v1 --kind Greeting --generate-role")
	clitest.WriteFile(t, filepath.Join(dir, "roles", "greeting", "tasks", "main.yml"), greetingTasks)
	clitest.WriteFile(t, filepath.Join(dir, "config", "samples", "demo_v1_greeting.yaml"),
		"apiVersion: demo.example.com/v1\nkind: Greeting\nmetadata:\n  name: greeting-sample\nspec: {}\n")
	return dir, clitest.RuntimeVariable + "=" + program
}

// TestRunLocalAnsible runs two Ansible projects with the same names at a time. One of them is changed, with valid and invalid files.
func TestRunLocalAnsible(t *testing.T) {
	t.Parallel()
	dir, variable := newGreetings(t)
	other := clitest.CopyTree(t, dir)
	args := []string{"run", "local", "--control-plane", "embedded", "--samples", "--watch"}
	p := clitest.StartProcess(t, dir, []string{variable}, args...)
	q := clitest.StartProcess(t, other, []string{variable}, args...)
	for _, process := range []*clitest.Process{p, q} {
		c := process.Cluster()
		process.WaitFor("applied "+greeting, 1)
		c.Eventually("True", "get", greeting, "-o", readyStatus)
		c.Eventually("Hello", "get", "configmap/greeting-sample", "-o", greetingText)
		checkAddresses(t, process)
	}
	q.Interrupt()
	q.MustEnd(0)

	c := p.Cluster()
	c.Must("", "patch", greeting, "--type=merge", "-p", `{"spec":{"greeting":"Good day"}}`)
	c.Eventually("Good day", "get", "configmap/greeting-sample", "-o", greetingText)

	// The permissions that are generated for the added kind are not another change.
	tasks := filepath.Join(dir, "roles", "greeting", "tasks", "main.yml")
	clitest.AppendFile(t, tasks, `- name: Create the service account
  kubernetes.core.k8s:
    api_version: v1
    kind: ServiceAccount
    name: added
    namespace: "{{ ansible_operator_meta.namespace }}"
`)
	p.WaitFor("changed: roles/greeting/tasks/main.yml", 1)
	p.WaitFor("updated  config/rbac/role.yaml", 1)
	p.WaitFor("starting the manager", 2)
	c.Eventually("serviceaccount/added", "get", "serviceaccount", "added", "--ignore-not-found", "-o", "name")

	// A failing task is reported in the status, and the operator goes on.
	clitest.AppendFile(t, tasks, "- name: Stop\n  ansible.builtin.fail:\n    msg: not today\n")
	c.Eventually("not today", "get", greeting, "-o", `jsonpath={.status.conditions[?(@.type=="Failure")].message}`)
	c.Eventually("False", "get", greeting, "-o", readyStatus)
	clitest.EditFile(t, dir, "roles/greeting/tasks/main.yml", "- name: Stop\n  ansible.builtin.fail:\n    msg: not today\n", "")
	c.Eventually("True", "get", greeting, "-o", readyStatus)

	// A manager that does not start is started again by a change.
	clitest.EditFile(t, dir, "watches.yaml", "role: greeting", "role: missing")
	p.WaitFor("waiting for changes", 1)
	clitest.EditFile(t, dir, "watches.yaml", "role: missing", "role: greeting")
	p.WaitFor("starting the manager", 6)
	p.WaitFor("press Ctrl-C", 1)
	// The log of a run that is ended can contain the words, too.
	if n := strings.Count(p.Output(), "\nchanged: "); n != 5 {
		t.Errorf("%d changes instead of 5", n)
	}
	p.Interrupt()
	p.MustEnd(0)
	if strings.Contains(p.Output(), "was killed") {
		t.Error("the manager was killed, and not asked to stop")
	}
}

// TestRunLocalAnsibleEnds interrupts and kills run local during a run whose processes do not end by themselves.
func TestRunLocalAnsibleEnds(t *testing.T) {
	t.Parallel()
	dir, variable := newGreetings(t)
	// The command line of the program identifies it.
	seconds := fmt.Sprintf("86400.%d", os.Getpid())
	clitest.WriteFile(t, filepath.Join(dir, "roles", "greeting", "tasks", "main.yml"), `---
- name: Hang
  ansible.builtin.command: sleep `+seconds+"\n")
	for name, end := range map[string]func(*clitest.Process){
		"interrupted": func(p *clitest.Process) {
			p.Interrupt()
			p.MustEnd(0)
		},
		"killed": func(p *clitest.Process) {
			if err := p.Cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			<-p.Done
		},
	} {
		p := clitest.StartProcess(t, dir, []string{variable}, "run", "local", "--control-plane", "embedded", "--samples")
		for deadline := time.Now().Add(5 * time.Minute); len(clitest.ProcessesOf(seconds)) == 0; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: the task did not start\n%s", name, p.Output())
			}
		}
		end(p)
		clitest.CheckNoProcesses(t, p.TempDir, 30*time.Second)
		clitest.CheckNoProcesses(t, seconds, 30*time.Second)
		// Directories of a killed run remain until the next command, except the directories of Ansible runs.
		left, err := filepath.Glob(filepath.Join(p.TempDir, "*", "runs", "demo.example.com"))
		if err != nil || len(left) > 0 {
			t.Errorf("%s: directories %v remain (%v)", name, left, err)
		}
	}
}
