package ansibleoperator_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/operon-sdk/operon/pkg/ansibleoperator"
)

// TestChildKilled checks that a killed playbook is reported in the status and repeated, while other resources are reconciled.
func TestChildKilled(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	e.role("app", `- ansible.builtin.shell: |
    pid=$$
    while ! grep -q '^ansible-play' /proc/$pid/comm; do pid=$(cut -d ' ' -f 4 /proc/$pid/stat); done
    kill -9 $pid
    sleep 1000
  environment: {OPERON_TEST_MARKER: "{{ marker }}"}
  when: text == "kill" and not (dir + '/permitted') is exists
`+configMap)
	e.start("- {version: v1, group: GROUP, kind: App, role: app, vars: {marker: " + e.group + ", dir: " + e.dir + "}}\n")
	killed := e.waitReady(e.resource("App", "killed", "spec: {text: kill}"), "False/Failed")
	if message := fmt.Sprint(conditionOf(killed, "Failure")["message"]); !strings.Contains(message, "the playbook did not run to its end") {
		t.Errorf("Failure is %q", message)
	}
	e.waitReady(e.resource("App", "other", "spec: {text: other}"), "True/Successful")
	e.write("permitted", "")
	e.waitReady(killed, "True/Successful")
	e.waitProcesses(e.group, false)
}

// TestFullDisk checks that a full file system is reported in the status, and that runs succeed as soon as there is space.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("it mounts a file system, which requires root")
	}
	e := newEnv(t, "App")
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=4m,mode=0700"); err != nil {
		t.Skipf("it mounts a file system: %v", err)
	}
	// It runs after the end of the manager.
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	e.runs = filepath.Join(disk, "runs")
	e.role("app", configMap)
	e.start("- {version: v1, group: GROUP, kind: App, role: app}\n")
	first := e.waitReady(e.resource("App", "first", "spec: {text: one}"), "True/Successful")
	fill := filepath.Join(disk, "fill")
	file, err := os.Create(fill)
	if err != nil {
		t.Fatal(err)
	}
	for block := bytes.Repeat([]byte("x"), 512); err == nil; {
		_, err = file.Write(block)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	e.patch(first, "spec: {text: two}")
	full := e.waitReady(first, "False/Failed")
	if message := fmt.Sprint(conditionOf(full, "Failure")["message"]); !strings.Contains(message, "no space left on device; free space or inodes on the file system of") {
		t.Errorf("Failure is %q", message)
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	e.waitReady(first, "True/Successful")
	if err := e.checkText("first", "two"); err != nil {
		t.Error(err)
	}
}

// TestSecretsOfRole checks that contents of Secrets that a role reads or writes are in neither the status nor the log.
func TestSecretsOfRole(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	e.create("{apiVersion: v1, kind: Secret, metadata: {namespace: " + e.namespace + ", name: read}, stringData: {key: contents-that-were-read}}")
	e.role("app", `- kubernetes.core.k8s_info: {api_version: v1, kind: Secret, namespace: "{{ ansible_operator_meta.namespace }}", name: read}
  register: secret
- kubernetes.core.k8s:
    definition:
      apiVersion: v1
      kind: Secret
      metadata: {namespace: "{{ ansible_operator_meta.namespace }}", name: written}
      stringData: {key: contents-that-were-written}
- ansible.builtin.fail: {msg: "cannot use {{ secret.resources[0].data.key | b64decode }} or contents-that-were-written"}
`)
	var output bytes.Buffer
	stop := e.start("- {version: v1, group: GROUP, kind: App, role: app}\n", func(s *ansibleoperator.Settings, _ *manager.Options) {
		s.LogEvents, s.Output = "everything", &output
	})
	app := e.waitReady(e.resource("App", "one", "spec: {}"), "False/Failed")
	if c := conditionOf(app, "Failure"); c["message"] != "cannot use [redacted] or [redacted]" {
		t.Errorf("Failure is %v", c)
	}
	stop()
	for name, text := range map[string]string{"log": e.log.String(), "output": output.String()} {
		if strings.Contains(text, "contents-that") || !strings.Contains(text, "cannot use [redacted] or [redacted]") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}
