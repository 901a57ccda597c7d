package runner_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
	"github.com/operon-sdk/operon/testdata/parallel"
)

// operatorVariable makes the test binary an operator that runs the playbook in its value, with the root in the second one.
const operatorVariable, rootVariable = "RUNNER_TEST_PLAYBOOK", "RUNNER_TEST_ROOT"

func TestMain(m *testing.M) {
	if playbook := os.Getenv(operatorVariable); playbook != "" {
		if err := operate(playbook, os.Getenv(rootVariable)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	parallel.Wait()
	os.Exit(m.Run())
}

func operate(playbook, root string) error {
	r, err := runner.New(runner.Config{Root: root, Environ: os.Environ()})
	if err != nil {
		return err
	}
	for _, name := range []string{"idle", "failed"} {
		if _, err := r.Run(context.Background(), (&env{}).request(name, filepath.Join(filepath.Dir(playbook), name+".yml"))); err != nil {
			return err
		}
	}
	_, err = r.Run(context.Background(), (&env{}).request("busy", playbook))
	return err
}

// hanging returns a playbook that starts processes in other sessions and in the background, and then hangs. All of them run sleep
// with an argument.
func (e *env) hanging(name, argument string) runner.Request {
	return e.playbook(name, `
- {command: sleep `+argument+`, async: 1000, poll: 0}
- shell: setsid sh -c 'trap "" TERM HUP; sleep `+argument+`; sleep `+argument+`' > /dev/null 2>&1 &
- shell: touch `+e.dir+`/started; sleep `+argument+`
`)
}

// waitStarted waits until a hanging playbook hangs.
func (e *env) waitStarted(argument string) {
	e.Helper()
	eventually(e.T, func() string {
		if n := len(processes(e.T, "sleep "+argument)); n < 3 || !exists(filepath.Join(e.dir, "started")) {
			return fmt.Sprintf("%d processes have been started", n)
		}
		return ""
	})
}

func (e *env) checkEnded(argument string) {
	e.Helper()
	if found := processes(e.T, "sleep "+argument); len(found) > 0 {
		e.Errorf("processes remain: %s", strings.Join(found, "\n"))
	}
	if found, _ := filepath.Glob(filepath.Join(e.root, "*", "*", "*", "*", "*", "kubeconfig")); len(found) > 0 {
		e.Errorf("kubeconfigs remain: %v", found)
	}
}

func requireLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a reaper for processes in other sessions")
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	requireLinux(t)
	e := newEnv(t)
	request := e.hanging("one", "300.3")
	request.Timeout = 500 * time.Millisecond
	for !exists(filepath.Join(e.dir, "started")) { // on a slow machine, the first tries end too early
		request.Timeout *= 2
		result := e.run(request)
		if want := "the run exceeded its time limit of " + request.Timeout.String(); !result.TimedOut() || result.Killed != runner.KilledByTimeout || !result.Failed() || !strings.HasPrefix(result.Message(), want) {
			t.Fatalf("%+v, want message %s", result, want)
		}
		if want := ` in the task "shell" (module ansible.builtin.shell), after ok=2 changed=2 failed=0`; exists(filepath.Join(e.dir, "started")) && !strings.HasSuffix(result.Message(), want) {
			t.Errorf("message %q, want %q", result.Message(), want)
		}
		e.checkEnded("300.3")
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	requireLinux(t)
	e := newEnv(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the custom resource was deleted")
	done := make(chan error, 1)
	request := e.hanging("one", "300.4")
	go func() {
		_, err := e.runner.Run(ctx, request)
		done <- err
	}()
	e.waitStarted("300.4")
	removed := make(chan error, 1)
	go func() { removed <- e.runner.Remove(t.Context(), gvk, request.Key) }()
	cancel(cause)
	if err := <-done; !errors.Is(err, cause) {
		t.Error(err)
	}
	e.checkEnded("300.4")
	if err := <-removed; err != nil || exists(filepath.Join(e.root, gvk.Group)) {
		t.Errorf("the directory exists, %v", err)
	}
}

// TestCanceled checks that a run does not start if it is canceled before.
func TestCanceled(t *testing.T) {
	t.Parallel()
	for _, cold := range []bool{true, false} {
		e := newEnv(t, func(c *runner.Config) { c.Cold = cold })
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("the operator ends")
		cancel(cause)
		request := e.playbook("one", "- shell: touch "+e.dir+"/started; sleep 300.8\n")
		if _, err := e.runner.Run(ctx, request); !errors.Is(err, cause) {
			t.Error(err)
		}
		e.checkEnded("300.8")
		if exists(filepath.Join(e.dir, "started")) {
			t.Error("the run has started")
		}
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	requireLinux(t)
	e := newEnv(t)
	request := e.hanging("one", "300.5")
	done := make(chan error, 1)
	go func() {
		_, err := e.runner.Run(t.Context(), request)
		done <- err
	}()
	e.waitStarted("300.5")
	if err := e.runner.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err == nil || !strings.Contains(err.Error(), "closed") {
		t.Error(err)
	}
	e.checkEnded("300.5")
	if found := processes(t, e.root); len(found) > 0 {
		t.Errorf("processes remain: %v", found)
	}
	if exists(filepath.Join(e.root, gvk.Group)) {
		t.Error("a directory remains")
	}
}

// TestLeftovers checks that processes end with their run. Connections that ssh keeps are not reported.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	requireLinux(t)
	e := newEnv(t, cold)
	const message = "ended processes that the run left in the background"
	connection := `
- shell:
    cmd: |
      mkfifo $TMPDIR/fifo
      exec -a 'ssh: /300.6 [mux]' cat <> $TMPDIR/fifo > /dev/null 2>&1 &
      until grep -q mux /proc/$!/cmdline; do sleep 0.1; done
    executable: /bin/bash
`
	if result := e.run(e.playbook("one", connection)); result.Failed() {
		t.Errorf("%+v", result)
	}
	if found := processes(t, "300.6 [mux]"); len(found) > 0 || strings.Contains(e.log.String(), message) {
		t.Errorf("a process remains, or was reported: %v", found)
	}
	background := "- {command: sleep 300.6, async: 1000, poll: 0}\n- shell: until pgrep -f 'sleep 300[.]6'; do sleep 0.1; done\n"
	if result := e.run(e.playbook("one", connection+background)); result.Failed() {
		t.Errorf("%+v", result)
	}
	e.checkEnded("300.6")
	if log := e.log.String(); !strings.Contains(log, message) || !strings.Contains(log, `"processes"="python3, sleep"`) {
		t.Error("no message")
	}
}

// TestKilled kills an operator with one idle and one busy custom resource.
func TestKilled(t *testing.T) {
	t.Parallel()
	requireLinux(t)
	e := newEnv(t, cold)
	root := filepath.Join(t.TempDir(), "runs")
	e.playbook("idle", "- ping:\n")
	e.playbook("failed", "- fail:\n")
	request := e.hanging("busy", "300.7")
	operator := exec.Command(os.Args[0])
	temporary := t.TempDir()
	operator.Env = append(os.Environ(), operatorVariable+"="+request.Playbook, rootVariable+"="+root, "TMPDIR="+temporary)
	operator.Stderr = os.Stderr
	if err := operator.Start(); err != nil {
		t.Fatal(err)
	}
	e.waitStarted("300.7")
	for _, name := range []string{"idle/artifacts/latest", "busy/kubeconfig"} {
		if path := filepath.Join(root, gvk.Group, gvk.Version, gvk.Kind, "default", name); !exists(path) {
			t.Errorf("%s does not exist", path)
		}
	}
	// Another operator in the same root does not remove directories of this one, nor use them.
	other, err := runner.New(runner.Config{Root: root, Environ: os.Environ(), Cold: true})
	if err != nil {
		t.Fatal(err)
	}
	busy := e.request("busy", filepath.Join(e.dir, "idle.yml"))
	if _, err := other.Run(t.Context(), busy); err == nil || !strings.Contains(err.Error(), "is in use by another operator") {
		t.Errorf("run in a directory of another operator: %v", err)
	}
	if err := other.Remove(t.Context(), gvk, busy.Key); err != nil {
		t.Error(err)
	}
	if !exists(filepath.Join(root, gvk.Group, gvk.Version, gvk.Kind, "default", "busy", "kubeconfig")) {
		t.Error("the kubeconfig of another operator was removed")
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	if err := operator.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = operator.Wait()
	eventually(t, func() string {
		if found := append(processes(t, "sleep 300.7"), processes(t, root)...); len(found) > 0 {
			return "processes remain: " + strings.Join(found, "\n")
		}
		names, err := filepath.Glob(filepath.Join(root, gvk.Group, gvk.Version, gvk.Kind, "default", "*", "*"))
		if err != nil || len(names) != 2 || !strings.HasSuffix(names[0], "/failed/.failed") || !strings.HasSuffix(names[1], "/failed/artifacts") {
			return fmt.Sprintf("files remain: %v, %v", names, err)
		}
		if runs, err := os.ReadDir(names[1]); err != nil || len(runs) != 1 {
			return fmt.Sprintf("artifacts of a failed run: %v, %v", runs, err)
		}
		if entries, err := os.ReadDir(filepath.Join(root, ".op")); err != nil || len(entries) > 0 {
			return fmt.Sprintf("directories of operators remain: %v, %v", entries, err)
		}
		if entries, err := os.ReadDir(temporary); err != nil || len(entries) > 0 {
			return fmt.Sprintf("temporary directories remain: %v, %v", entries, err)
		}
		return ""
	})
}

// TestSweep checks that New removes directories of operators that were killed together with all their processes.
func TestSweep(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{
		".op/1234/lock": "", ".op/5678/lock": "", "example.com/v1/App/default/dead/.operator": "1234", "example.com/v1/App/default/dead/env/extravars": "{}",
		"example.com/v1/App/default/other/env/extravars": "{}",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	temporary, other := filepath.Join(t.TempDir(), "operon-1234"), t.TempDir()
	if err := os.Mkdir(temporary, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"1234": temporary, "5678": other} {
		if err := os.Symlink(target, filepath.Join(root, ".op", name, "tmp")); err != nil {
			t.Fatal(err)
		}
	}
	newEnv(t, cold, func(c *runner.Config) { c.Root = root })
	if exists(temporary) || !exists(other) {
		t.Errorf("temporary files of the operator exist: %t, another directory: %t", exists(temporary), exists(other))
	}
	for name, want := range map[string]bool{".op/1234": false, "example.com/v1/App/default/dead": false, "example.com/v1/App/default/other/env/extravars": true} {
		if got := exists(filepath.Join(root, name)); got != want {
			t.Errorf("%s: exists %t", name, got)
		}
	}
}

// TestSharedRoot checks that a root that others can write to, such as a volume of a pod, has a private directory.
func TestSharedRoot(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.Chmod(root, 0o777|fs.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	private := filepath.Join(root, fmt.Sprintf("uid-%d", os.Getuid()))
	e := newEnv(t, cold, func(c *runner.Config) { c.Root = root })
	e.root = private
	request := e.playbook("one", "- assert: {that: [playbook_dir is directory]}\n")
	if result := e.run(request); result.Failed() || !exists(e.runDir("one")) {
		t.Errorf("%+v", result)
	}
	if info, err := os.Stat(private); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if !strings.Contains(e.log.String(), private) {
		t.Error("the log does not contain the directory")
	}
	if err := os.Chmod(private, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := runner.New(runner.Config{Root: root, Environ: os.Environ()}); err == nil || !strings.Contains(err.Error(), "not be writable by others") {
		t.Error(err)
	}
}
