package runner_test

import (
	"os"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
)

func TestRun(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	result := e.run(e.playbook("ok", "- debug: {msg: hello}\n- ping:\n"))
	if result.Failed() || result.Stats.OK != 2 || result.Completion.IsZero() {
		t.Errorf("%+v", result)
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
