//go:build unix

package upgrade

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestUpgradeOfPlugins upgrades the files of optional plugins: unedited ones become the current ones, edited ones stay, with a message, and
// deleted ones stay deleted.
func TestUpgradeOfPlugins(t *testing.T) {
	t.Parallel()
	const (
		runtime, resources = "grafana/controller-runtime-metrics.json", "grafana/controller-resources-metrics.json"
		workflow           = ".github/workflows/auto_update.yml"
	)
	current := clitest.NewProject(t, "init --domain example.com --repo example.com/voyage --project-name voyage --plugins go/v4,grafana/v1-alpha,autoupdate/v1-alpha")
	for peerDir, updated := range map[string][]string{"peers/operator-sdk-1.42": {runtime, resources}, "bench/peers": {runtime, resources, workflow}} {
		t.Run(peerDir, func(t *testing.T) {
			t.Parallel()
			program := clitest.BuildPeer(t, peerDir, "sigs.k8s.io/kubebuilder/v4")
			dir := filepath.Join(t.TempDir(), "voyage")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			clitest.RunPeer(t, program, dir, strings.Fields("init --domain example.com --repo example.com/voyage --project-name voyage --fetch-deps=false --skip-go-version-check")...)
			clitest.RunPeer(t, program, dir, "edit", "--plugins", "grafana/v1-alpha")
			if len(updated) == 3 {
				clitest.RunPeer(t, program, dir, "edit", "--plugins", "autoupdate/v1-alpha")
			}
			edited := clitest.CopyTree(t, dir)
			if len(updated) == 3 {
				clitest.EditFile(t, edited, workflow, "schedule:", "push:\n  schedule:")
			}
			clitest.EditFile(t, edited, runtime, `"panels": [`, `"description": "mine", "panels": [`)
			if err := os.Remove(filepath.Join(edited, resources)); err != nil {
				t.Fatal(err)
			}
			before := clitest.ReadTree(t, edited)

			code, out, errOut := clitest.Run(t, dir, "", "upgrade")
			for _, name := range updated {
				want, got := clitest.ReadFile(t, filepath.Join(current, name)), clitest.ReadFile(t, filepath.Join(dir, name))
				if code != 0 || got != want || !strings.Contains(out, "updated  "+name+"\n") {
					t.Errorf("%s is not updated: exit code %d\n%s%s", name, code, out, errOut)
				}
			}
			if code, out, errOut := clitest.Run(t, dir, "", "upgrade"); code != 0 || out != "" {
				t.Errorf("the second upgrade changed\n%s%s", out, errOut)
			}

			_, out, errOut = clitest.Run(t, edited, "", "upgrade")
			after := clitest.ReadTree(t, edited)
			for _, name := range []string{runtime, resources, workflow} {
				if after[name] != before[name] || before[name] != "" && !strings.Contains(errOut, name+" ") {
					t.Errorf("%s changed, or has no message\n%s%s", name, out, errOut)
				}
			}
		})
	}
}
