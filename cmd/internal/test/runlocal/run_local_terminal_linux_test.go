package runlocal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestRunLocalTerminal runs the golden operator at a terminal, which asks whether to run its code the first time, and uses its control
// plane by the command that it prints.
func TestRunLocalTerminal(t *testing.T) {
	t.Parallel()
	dir := clitest.CopyGolden(t, "memcached-operator")
	clitest.SetFreeWebhookPort(t, dir)
	tmp := t.TempDir()
	p := clitest.StartRunTerminal(t, dir, []string{"TMPDIR=" + tmp, "CI="}, "run", "local", "--control-plane", "embedded", "--samples")
	p.Type("Continue?", "y\r")
	for _, want := range []string{
		"generating code and manifests", "starting a control plane", "installing the CRDs",
		"its kubeconfig is .operon/kubeconfig", "starting the manager", "\x1b[2m", "setup  Starting the manager\r\n",
	} {
		p.WaitFor(want)
	}
	// It comes before or after log lines of the manager.
	for deadline := time.Now().Add(5 * time.Minute); !strings.Contains(p.Screen(), "applied memcached") && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
	const hint = "operon tool kubectl get memcacheds,all -A"
	if !strings.Contains(p.Screen(), hint) {
		t.Errorf("the screen lacks %q\n%s", hint, p.Screen())
	}
	file := filepath.Join(dir, ".operon", "kubeconfig")
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Errorf("%s: %v, %v", file, info, err)
	}

	kubectl := func(args ...string) (int, string) {
		tool := clitest.StartProcess(t, filepath.Join(dir, "api"), []string{"KUBECONFIG=" + filepath.Join(tmp, "none")}, append([]string{"tool", "kubectl"}, args...)...)
		<-tool.Done
		return tool.Cmd.ProcessState.ExitCode(), tool.Output()
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{strings.Fields(hint)[3:], 0, "memcached.cache.example.com/memcached-sample"},
		{[]string{"get", "nothings"}, 1, `the server doesn't have a resource type "nothings"`},
		{[]string{"diff", "-f", "missing.yaml"}, 2, "missing.yaml"},
		{[]string{"exec", "none", "--", "--context"}, 1, `pods "none" not found`},
		{[]string{"get", "pods", "--context", "dev"}, 1, "context was not found for specified context: dev"},
	} {
		if code, out := kubectl(c.args...); code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("kubectl %q: exit code %d\n%s, want %d and %q", c.args, code, out, c.code, c.want)
		}
	}
	if out := clitest.MustRun(t, dir, "__complete", "tool", "kubectl", "get", "memc"); out != "memcacheds.cache.example.com\n:4\n" {
		t.Errorf("the completion is %q", out)
	}

	for _, command := range []string{"olm install", "run bundle ./bundle", "run bundle-upgrade ./bundle", "scorecard bundle"} {
		args := append(strings.Fields(command), "--kubeconfig", file)
		code, out, errOut := clitest.Run(t, dir, "", args...)
		if code != 1 || out != "" || !strings.Contains(errOut, "error: containers do not run in the cluster at https://127.0.0.1:") {
			t.Errorf("%s: exit code %d\n%s%s", command, code, out, errOut)
		}
	}

	p.Type("Starting workers", "\x03")
	if screen := p.MustEnd(0); !strings.HasSuffix(screen, "\nstopped") {
		t.Errorf("it does not end with \"stopped\"\n%s", screen)
	} else if strings.Contains(screen, "manager | ") || strings.Contains(screen, "controllerGroup") {
		t.Errorf("the log is not compact\n%s", screen)
	}
	if _, err := os.Stat(filepath.Dir(file)); !os.IsNotExist(err) {
		t.Errorf("%s: %v", filepath.Dir(file), err)
	}
	if code, out := kubectl("get", "pods"); code != 1 || !strings.HasPrefix(out, "error: no control plane runs for this project; start one with 'operon run local ") {
		t.Errorf("kubectl without a control plane: exit code %d\n%s", code, out)
	}
	if code, out := kubectl("version", "--client"); code != 0 || !strings.Contains(out, "Client Version") {
		t.Errorf("kubectl version --client: exit code %d\n%s", code, out)
	}
}
