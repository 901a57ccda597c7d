package runner_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
)

func TestRun(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(c *runner.Config) {
		c.Environ = append(c.Environ, "MY_VARIABLE=mine", "PYTHONPATH=/my/path", "HTTPS_PROXY=http://proxy.example.com", "NO_PROXY=example.com")
		c.Args = `'-e '{"from_args": "a b"}''` // as in manifests of operator-sdk
	})
	request := e.playbook("one", `
- assert:
    that:
    - from_args == "a b"
    - size == 3
    - lookup('env', 'MY_VARIABLE') == "mine"
    - lookup('env', 'KUBECONFIG') == lookup('env', 'K8S_AUTH_KUBECONFIG')
    - lookup('file', lookup('env', 'KUBECONFIG')) == 'this is a kubeconfig'
    - lookup('env', 'PYTHONPATH') == "/my/path"
    - lookup('env', 'OPERON_EVENTS_FD') == ""
    - lookup('env', 'no_proxy') == "example.com,127.0.0.1,localhost"
    - lookup('env', 'TMPDIR') is directory
- shell: echo $KUBECONFIG; stat -c %a $KUBECONFIG; touch $TMPDIR/left
  register: module
- assert: {that: "module.stdout_lines == [lookup('env', 'KUBECONFIG'), '600']"}
`)
	request.Kubeconfig = []byte("this is a kubeconfig")
	request.Variables = map[string]any{"size": 3}
	request.MaxArtifacts = 2
	var result *runner.Result
	for range 3 {
		result = e.run(request)
		if result.Failed() || result.Stats.OK != 3 || result.Stats.Changed != 1 || time.Since(result.Completion).Abs() > time.Hour || result.RequeueAfter != nil {
			t.Fatalf("%+v\n%s", result, e.log)
		}
	}
	dir := e.runDir("one")
	if exists(filepath.Join(dir, "kubeconfig")) {
		t.Error("the kubeconfig exists after the run")
	}
	if target, err := os.Readlink(filepath.Join(dir, "artifacts", "latest")); err != nil || target != result.Ident {
		t.Errorf("artifacts/latest links to %s, %v", target, err)
	}
	if output, err := os.ReadFile(filepath.Join(dir, "artifacts", "latest", "stdout")); err != nil || !strings.Contains(string(output), "PLAY RECAP") {
		t.Errorf("output %s, %v", output, err)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "artifacts")); err != nil || len(entries) != 3 { // two runs and the link
		t.Errorf("artifacts: %v, %v", entries, err)
	}
	if found, _ := filepath.Glob(filepath.Join(e.root, ".op", "*", "*", "left")); len(found) > 0 {
		t.Errorf("temporary files remain: %v", found)
	}
	for _, name := range []string{"env/extravars", "env/envvars", "env/cmdline", "env/settings", "inventory/hosts", "artifacts/latest/command"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	for path := dir; ; path = filepath.Dir(path) {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
		if path == e.root {
			break
		}
	}
	if err := e.runner.Remove(t.Context(), gvk, request.Key); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(e.root); err != nil || len(entries) != 1 { // the operator's
		t.Errorf("after Remove: %v, %v", entries, err)
	}
	if err := e.runner.Close(); err != nil {
		t.Error(err)
	}
	if _, err := e.runner.Run(t.Context(), request); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("run after Close: %v", err)
	}
}

func TestRole(t *testing.T) {
	t.Parallel()
	temporary := t.TempDir()
	e := newEnv(t, func(c *runner.Config) {
		c.Environ = append(c.Environ, "TMPDIR="+temporary, "ANSIBLE_GATHERING=explicit", "ANSIBLE_ROLES_PATH=shared")
	})
	e.write("shared/dependency/tasks/main.yml", "- set_fact: {from_dependency: yes}\n")
	e.write("roles/memcached/meta/main.yml", "dependencies: [dependency]\n")
	e.write("roles/memcached/tasks/main.yml", "- assert: {that: [from_dependency, ansible_facts.hostname is not defined]}\n- debug: {msg: details, verbosity: 2}\n- shell: touch $TMPDIR/left $TMPDIR/k8srcp-left.json\n")
	request := e.request("role", "")
	request.Role, request.Verbosity = filepath.Join(e.dir, "roles", "memcached"), 2
	if result := e.run(request); result.Failed() || result.Stats.OK != 4 || result.Stats.Skipped != 0 {
		t.Errorf("%+v", result)
	}
	if left, err := os.ReadDir(filepath.Join(e.runDir("role"), "project")); err != nil || len(left) != 0 {
		t.Errorf("project: %v, %v", left, err)
	}
	if left, err := filepath.Glob(filepath.Join(temporary, "operon-*", "*")); err != nil || len(left) != 0 {
		t.Errorf("TMPDIR: %v, %v", left, err)
	}
	e.write("roles/broken/tasks/main.yml", "- debug: {msg: [}\n")
	request.Role = filepath.Join(e.dir, "roles", "broken")
	if _, err := e.runner.Run(t.Context(), request); err == nil || !strings.HasSuffix(err.Error(), "did not run to its end: exit code 4 (invalid playbook or role, or no host reachable) before the first task; see the log of the operator (roles/broken/tasks/main.yml:1:17)") {
		t.Errorf("role with a syntax error: %v", err)
	}
	if log := e.log.String(); !strings.Contains(log, "ERROR! ") || !strings.Contains(log, "broken/tasks/main.yml") {
		t.Errorf("the log does not contain the error: %s", log)
	}
	request.Role = "my.collection.role"
	if _, err := e.runner.Run(t.Context(), request); err == nil || !strings.Contains(e.log.String(), "my.collection.role") {
		t.Errorf("missing collection: %v", err)
	}
	if err := e.runner.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) != 0 {
		t.Errorf("TMPDIR after Close: %v, %v", left, err)
	}
}

func TestInventory(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"hosts.yml":     {"hosts.yml": "all: {hosts: {localhost: {ansible_connection: local, from_inventory: yes}}}\n"},
		"inventory":     {"inventory/hosts": "localhost ansible_connection=local\n", "inventory/group_vars/all.yml": "from_inventory: yes\n"},
		"localhost,":    nil,
		"not-there.yml": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t, func(c *runner.Config) { c.Environ = append(c.Environ, "ANSIBLE_INVENTORY="+name) }, cold)
			for file, text := range files {
				e.write(file, text)
			}
			request := e.playbook("one", "- debug: {msg: '{{ from_inventory }}'}\n")
			if len(files) > 0 {
				if result := e.run(request); result.Failed() {
					t.Errorf("%+v", result)
				}
				return
			}
			result, err := e.runner.Run(t.Context(), request)
			if name == "localhost," && (err != nil || !strings.Contains(result.Message(), "from_inventory")) {
				t.Errorf("%+v, %v", result, err)
			} else if name != "localhost," && (err == nil || !strings.Contains(err.Error(), "ANSIBLE_INVENTORY")) {
				t.Error(err)
			}
		})
	}
}

// fakeConnection records the paths of modules on other hosts.
const fakeConnection = `
DOCUMENTATION = "{name: fake, short_description: fake, description: fake, author: me, options: {}}"
import os
from ansible.plugins.connection.local import Connection as Local
class Connection(Local):
    transport = "fake"
    has_pipelining = False
    def put_file(self, source, target):
        with open(os.environ["MODULES"], "a") as file:
            file.write(os.path.dirname(os.path.dirname(target)) + "\n")
        super().put_file(source, target)
`

// TestRemoteTemporary checks that only tasks on this machine use the temporary directory of the run.
func TestRemoteTemporary(t *testing.T) {
	t.Parallel()
	modules := filepath.Join(t.TempDir(), "modules")
	e := newEnv(t, cold, func(c *runner.Config) { c.Environ = append(c.Environ, "MODULES="+modules) })
	e.write("connection_plugins/fake.py", fakeConnection)
	request := e.playbook("one", `
- shell: find $TMPDIR -name AnsiballZ_command.py
  register: local
- assert: {that: "local.stdout_lines | length == 1"}
- add_host: {name: other, ansible_connection: fake, ansible_python_interpreter: "{{ ansible_playbook_python }}"}
- {ping: , delegate_to: other}
- {ping: , vars: {ansible_connection: fake}}
`)
	if result := e.run(request); result.Failed() {
		t.Errorf("%+v", result)
	}
	if got, err := os.ReadFile(modules); err != nil || strings.Count(string(got), "/.ansible/tmp\n") != 2 {
		t.Errorf("directories of modules on other hosts: %s, %v", got, err)
	}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	var output strings.Builder
	for _, test := range []struct {
		events            runner.LogEvents
		included, without []string
	}{
		{runner.Tasks, []string{`"task started" "kind"="Memcached" "namespace"="default" "name"="one"`, `"task"="say hello"`, `"message"="it broke"`}, []string{"runner_on_ok", "hidden"}},
		{runner.Everything, []string{"runner_on_ok", "hello world", `"message"="it broke"`}, []string{"hidden"}},
		{runner.Nothing, nil, []string{"say hello", "broke"}},
	} {
		t.Run(string(test.events), func(t *testing.T) {
			e := newEnv(t, func(c *runner.Config) { c.LogEvents, c.Output = test.events, &output }, cold)
			result := e.run(e.playbook("one", "- {name: say hello, debug: {msg: hello world}}\n- {debug: {msg: hidden}, no_log: true}\n- fail: {msg: it broke}\n"))
			for _, text := range append(test.included, result.Ident) {
				if !strings.Contains(e.log.String()+result.Ident, text) {
					t.Errorf("the log does not contain %s", text)
				}
			}
			for _, text := range test.without {
				if strings.Contains(e.log.String(), text) {
					t.Errorf("the log contains %s", text)
				}
			}
			if out := output.String(); !strings.Contains(out, "--- output of run "+result.Ident+" of Memcached default/one\n") || !strings.Contains(out, "hello world") || strings.Contains(out, "hidden") {
				t.Errorf("output: %s", out)
			}
		})
	}
}

func TestInvalid(t *testing.T) {
	t.Parallel()
	e := newEnv(t, cold)
	valid := e.playbook("one", "- ping:\n")
	for want, change := range map[string]func(*runner.Request){
		`".." is not a valid name`:    func(r *runner.Request) { r.Key.Name = ".." },
		`"a/b" is not a valid name`:   func(r *runner.Request) { r.Key.Namespace = "a/b" },
		`".op" is not a valid name`:   func(r *runner.Request) { r.GVK.Group = ".op" },
		"kind and name are required":  func(r *runner.Request) { r.Key.Name = "" },
		"must be an absolute path":    func(r *runner.Request) { r.Playbook = "a.yml" },
		"a playbook or a role is":     func(r *runner.Request) { r.Playbook = "" },
		"env/extravars: json":         func(r *runner.Request) { r.Variables = map[string]any{"a": func() {}} },
		"not-there.yml: no such file": func(r *runner.Request) { r.Playbook = "/not-there.yml" },
	} {
		request := valid
		change(&request)
		if _, err := e.runner.Run(t.Context(), request); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, err := runner.New(runner.Config{LogEvents: "all"}); err == nil || !strings.Contains(err.Error(), "must be tasks, everything or nothing") {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: it starts Ansible")
	}
	machine, err := runner.Check(t.Context(), runner.Config{Environ: os.Environ(), Dir: t.TempDir()})
	if err != nil || machine.AnsibleRunner == "" || machine.Core == "" || machine.Kubernetes == "" {
		t.Errorf("%+v, %v", machine, err)
	}
	config := runner.Config{Environ: []string{"PATH=" + t.TempDir()}, Dir: t.TempDir(), Root: t.TempDir()}
	_, err = runner.Check(t.Context(), config)
	for _, want := range []string{"ansible-playbook: not found; install", "ansible-runner: not found; install", "apt-get install python3-ansible-runner"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, err := runner.New(config); err == nil || !strings.Contains(err.Error(), "ansible-runner: not found in PATH") {
		t.Error(err)
	}
}

func TestFindRole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{"roles/a", "first/a", "second/roles/b", "first/ns.coll.local"} {
		if err := os.MkdirAll(filepath.Join(dir, path), fs.ModePerm); err != nil {
			t.Fatal(err)
		}
	}
	paths := []string{"first", filepath.Join(dir, "second"), ""}
	for name, want := range map[string]string{
		"a": "first/a", "b": "second/roles/b", "ns.coll.local": "first/ns.coll.local", filepath.Join(dir, "roles/a"): "roles/a",
	} {
		if got, err := runner.FindRole(name, paths, dir); err != nil || got != filepath.Join(dir, want) {
			t.Errorf("FindRole(%q) = %q, %v", name, got, err)
		}
	}
	if got, err := runner.FindRole("ns.coll.role", paths, dir); err != nil || got != "ns.coll.role" {
		t.Errorf("%q, %v", got, err)
	}
	for name, want := range map[string]string{"c": filepath.Join(dir, "second", "roles", "c"), "../a": "must be the name", "": "must be the name", "/not/there": "directory not found"} {
		if _, err := runner.FindRole(name, paths, dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("FindRole(%q): %v, want %s", name, err, want)
		}
	}
}
