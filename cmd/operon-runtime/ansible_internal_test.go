package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operon-sdk/operon/testdata/ansible"
)

// newAnsibleEnv returns an environment with a kind and a role, which creates a ConfigMap named after the resource.
func newAnsibleEnv(t *testing.T, kind string, keys ...string) *env {
	t.Helper()
	e := newEnv(t)
	ansible.Require(t)
	e.createCRD(e.group, kind)
	e.write("roles/app/tasks/main.yml", `- kubernetes.core.k8s:
    definition:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "{{ ansible_operator_meta.name }}", namespace: "{{ ansible_operator_meta.namespace }}"}
- ansible.builtin.command: sleep 1000
  environment: {OPERON_TEST_MARKER: "{{ marker | default('') }}"}
  when: hang | default(false)
`)
	lines := append([]string{"- group: " + e.group, "  version: v1", "  kind: " + kind, "  role: app", "  vars: {marker: " + e.group + "}"}, keys...)
	e.write("watches.yaml", strings.Join(lines, "\n")+"\n")
	return e
}

// startAnsible runs the operator of the project.
func (e *env) startAnsible(variables []string, args ...string) *process {
	e.Helper()
	variables = append([]string{"ANSIBLE_GATHERING=explicit"}, variables...)
	return e.startProgram(os.Args[0], ansibleOperator, variables, append([]string{"--run-directory", filepath.Join(e.dir, "runs")}, args...)...)
}

// waitConfigMap waits for the object of a role.
func (e *env) waitConfigMap(namespace, name string) {
	e.Helper()
	e.eventually("ConfigMap "+name, func() error { _, err := e.get("v1", "ConfigMap", namespace, name); return err })
}

// waitMarked waits until processes with the marker of the group exist, or until there are none.
func (e *env) waitMarked(running bool) {
	e.Helper()
	e.eventually("processes of runs", func() error {
		files, _ := filepath.Glob("/proc/[0-9]*/environ") // none are an error
		var found []string
		for _, file := range files {
			if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), "OPERON_TEST_MARKER="+e.group+"\x00") {
				found = append(found, filepath.Base(filepath.Dir(file)))
			}
		}
		if (len(found) > 0) != running {
			return fmt.Errorf("processes %q", found)
		}
		return nil
	})
}

func TestAnsibleOperator(t *testing.T) {
	t.Parallel()
	e := newAnsibleEnv(t, "App")
	watched, other := e.namespace("watched"), e.namespace("other")
	e.createSpec(e.group, "App", watched, "one", "{}")
	e.createSpec(e.group, "App", other, "two", "{}")
	metrics, probes := freeAddress(t), freeAddress(t)
	p := e.startAnsible([]string{"WATCH_NAMESPACE=" + watched}, "--metrics-bind-address", metrics, "--health-probe-bind-address", probes)
	e.waitConfigMap(watched, "one")
	for url, want := range map[string]string{
		"http://" + probes + "/healthz": "200", "http://" + probes + "/readyz": "200",
		"http://" + metrics + "/metrics": `ansible_operator_reconcile_result{GVK="` + e.group + `/v1, Kind=App",result="succeeded"} 1`,
	} {
		e.eventually(url, func() error { return getURL(url, "", want) })
	}
	// The address of the module osdk_metric is fixed, so that another operator of this machine may have it.
	metric := `{"name": "my_counter", "description": "x", "counter": {"add": 3}}`
	response, err := http.Post("http://127.0.0.1:5050/metrics", "application/json", strings.NewReader(metric))
	if err == nil {
		response.Body.Close()
		if !strings.Contains(p.output(), "its address cannot be used") {
			e.eventually("metric of a run", func() error { return getURL("http://"+metrics+"/metrics", "", "my_counter 3") })
		}
	} else if !strings.Contains(p.output(), "its address cannot be used") {
		t.Error(err)
	}
	if _, err := e.get("v1", "ConfigMap", other, "two"); err == nil {
		t.Error("a resource outside of WATCH_NAMESPACE was reconciled")
	}
	p.mustStop() // while idle
	if _, err := os.Stat(filepath.Join(e.dir, "runs", e.group)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("directories of runs are left (%v)", err)
	}
}

// TestAnsibleInterrupted checks that SIGTERM ends runs and that kill -9 leaves neither processes nor directories.
func TestAnsibleInterrupted(t *testing.T) {
	t.Parallel()
	e := newAnsibleEnv(t, "App")
	namespace := e.namespace("a")
	e.createSpec(e.group, "App", namespace, "one", "{hang: true}")
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		p := e.startAnsible(nil)
		e.waitMarked(true)
		if signal == syscall.SIGKILL {
			p.stop(signal)
		} else {
			p.mustStop()
		}
		e.waitMarked(false)
		e.eventually("directories are removed after "+signal.String(), func() error {
			if _, err := os.Stat(filepath.Join(e.dir, "runs", e.group)); !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("directories of runs are left (%w)", err)
			}
			return nil
		})
	}
}

// TestAnsibleErrors checks what the program reports at its start.
func TestAnsibleErrors(t *testing.T) {
	t.Parallel()
	e := newAnsibleEnv(t, "App")
	e.write("good.yaml", "- {version: v1, group: a.example.com, kind: App, role: app}\n")
	e.write("bad.yaml", "- {version: v1, group: a.example.com, kind: App, rol: app}\n- {version: v1, kind: A, role: a, playbook: b, reconcilePeriod: x}\n")
	e.write("missing.yaml", "- {version: v1, group: a.example.com, kind: App, role: nope, finalizer: {name: a/b, playbook: gone.yml}}\n- {version: v1, kind: B, playbook: roles}\n")
	e.write("bin/empty", "")
	for name, test := range map[string]struct {
		variables, args []string
		code            int
		want            []string
	}{
		"flags": {
			args: []string{"--ansible-verbosity", "8", "--ansible-log-events", "task", "--proxy-port", "-1", "--max-concurrent-reconciles", "0", "--leader-elect-renew-deadline", "20s"},
			code: exitUsage, want: []string{
				`--ansible-verbosity "8": must be 0 to 7`, `--ansible-log-events "task": must be tasks, everything or nothing; did you mean "tasks"?`,
				`--proxy-port "-1": must be 0 to 65535`, `--max-concurrent-reconciles "0": must be greater than zero`, `--leader-elect-renew-deadline "20s": must be`,
			},
		},
		"no file": {args: []string{"--watches-file", "none.yaml"}, code: exitUsage, want: []string{`--watches-file "none.yaml": no such file; 'operon create api' writes one`}},
		"bad": {args: []string{"--watches-file", "bad.yaml"}, code: exitFailed, want: []string{
			"bad.yaml:1:3: playbook or role is required", `bad.yaml:1:50: unknown key "rol"; did you mean "role"?`, `bad.yaml:2:65: "x": must be a duration`,
		}},
		"missing": {args: []string{"--watches-file", "missing.yaml"}, code: exitFailed, want: []string{
			`missing.yaml:1:3: role "nope": not found in `, `missing.yaml:1:3: finalizer: playbook "gone.yml": no such file or directory`,
			`missing.yaml:2:3: playbook "roles": is not a file`,
		}},
		"variables": {
			args: []string{"--watches-file", "good.yaml"}, variables: []string{"ANSIBLE_VERBOSITY_APP_A_EXAMPLE_COM=loud", "WORKER_APP_A_EXAMPLE_COM=0"},
			code: exitFailed, want: []string{`variable ANSIBLE_VERBOSITY_APP_A_EXAMPLE_COM "loud": must be a number from 0 to 7`, `variable WORKER_APP_A_EXAMPLE_COM "0"`},
		},
		"no Ansible": {
			args: []string{"--watches-file", "good.yaml"}, variables: []string{"PATH=" + filepath.Join(e.dir, "bin")},
			code: exitFailed, want: []string{"ansible-runner"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub := *e
			sub.TB = t
			p := sub.startAnsible(test.variables, test.args...)
			<-p.done
			output := p.output()
			if code := p.cmd.ProcessState.ExitCode(); code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			for _, want := range test.want {
				if !strings.Contains(output, want) {
					t.Errorf("output:\n%s\nwant %s", output, want)
				}
			}
		})
	}
}

// TestAnsibleWithoutKubernetes checks that the operator starts in a virtual environment without the package kubernetes, and that it does
// not list collections.
func TestAnsibleWithoutKubernetes(t *testing.T) {
	t.Parallel()
	e := newAnsibleEnv(t, "App")
	e.write("roles/app/tasks/main.yml", "- ansible.builtin.command: touch "+e.dir+"/done\n")
	for name, text := range map[string]string{
		"venv/bin/python3":   "#!/bin/sh\necho \"$@\" >> " + e.dir + "/modules\nexec python3 -S \"$@\"\n",
		"bin/ansible-galaxy": "#!/bin/sh\ntouch " + e.dir + "/galaxy\n",
	} {
		e.write(name, text)
		if err := os.Chmod(filepath.Join(e.dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	e.createSpec(e.group, "App", e.namespace("a"), "one", "{}")
	p := e.startAnsible([]string{"VIRTUAL_ENV=" + filepath.Join(e.dir, "venv"), "PATH=" + filepath.Join(e.dir, "bin") + ":" + os.Getenv("PATH")})
	e.eventually("the run has ended", func() error {
		if !strings.Contains(p.output(), "run succeeded") {
			return errors.New(p.output())
		}
		return nil
	})
	p.mustStop()
	if want := "Python package kubernetes for " + filepath.Join(e.dir, "venv", "bin", "python3") + ": not found; install it"; !strings.Contains(p.output(), want) {
		t.Errorf("output:\n%s\nwant %s", p.output(), want)
	}
	if modules, err := os.ReadFile(filepath.Join(e.dir, "modules")); err != nil || !strings.Contains(string(modules), "AnsiballZ_command.py") {
		t.Errorf("the virtual environment has run %q, %v", modules, err)
	}
	if _, err := os.Stat(filepath.Join(e.dir, "galaxy")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ansible-galaxy was started (%v)", err)
	}
}

// stopLimit is the time within which an idle operator ends.
const stopLimit = 5 * time.Second

func TestAnsibleIdleStop(t *testing.T) {
	t.Parallel()
	e := newAnsibleEnv(t, "App")
	namespace := e.namespace("a")
	e.createSpec(e.group, "App", namespace, "one", "{}")
	p := e.startAnsible(nil)
	e.waitConfigMap(namespace, "one")
	e.eventually("the run has ended", func() error {
		if !strings.Contains(p.output(), "run succeeded") {
			return errors.New(p.output())
		}
		return nil
	})
	if code, took := p.stop(syscall.SIGTERM); code != 0 || took > stopLimit {
		t.Errorf("exit code %d after %s, want 0 within %s", code, took, stopLimit)
	}
}
