package peers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

const grafanaMetrics = `---
customMetrics:
  - metric: calls_total
    type: counter
  - metric: wait_seconds
    type: histogram
    expr: sum(wait_seconds_sum{job=\"$job\"})
    unit: s
`

// TestGrafana continues the dashboards of peers with Operon and vice versa.
func TestGrafana(t *testing.T) {
	t.Parallel()
	for name, module := range map[string]string{"operator-sdk-1.42": "peers/operator-sdk-1.42", "kubebuilder-4": "bench/peers"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := clitest.BuildPeer(t, module, "sigs.k8s.io/kubebuilder/v4")
			dir := filepath.Join(t.TempDir(), "theirs")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			config, dashboard := filepath.Join(dir, "grafana/custom-metrics/config.yaml"), filepath.Join(dir, "grafana/custom-metrics/custom-metrics-dashboard.json")
			clitest.RunPeer(t, program, dir, strings.Fields("init --plugins go/v4,grafana/v1-alpha --domain example.com --repo example.com/theirs --fetch-deps=false --skip-go-version-check")...)
			clitest.RunPeer(t, program, dir, "edit", "--plugins", "grafana.kubebuilder.io/v1-alpha")
			before := clitest.ReadTree(t, dir)
			if out := clitest.MustRun(t, dir, "edit", "--plugins", "grafana.kubebuilder.io/v1-alpha"); out != "" {
				t.Errorf("Operon changed\n%s", out)
			}
			clitest.WriteFile(t, config, grafanaMetrics)
			clitest.RunPeer(t, program, dir, "edit", "--plugins", "grafana.kubebuilder.io/v1-alpha")
			theirs := clitest.ReadFile(t, dashboard)
			if out := clitest.MustRun(t, dir, "edit", "--plugins", "grafana/v1-alpha"); out != "" {
				t.Errorf("Operon changed\n%s", out)
			}
			clitest.WriteFile(t, config, grafanaMetrics+"  - metric: size\n    type: gauge\n")
			clitest.MustRun(t, dir, "edit", "--plugins", "grafana/v1-alpha")
			want, got := panels(t, theirs), panels(t, clitest.ReadFile(t, dashboard))
			if len(want) != 2 || len(got) != 3 || got[0] != want[0] || got[1] != want[1] || !strings.Contains(got[2], `"size (gauge)"`) {
				t.Errorf("panels %q became %q", want, got)
			}
			for _, file := range []string{"PROJECT", "grafana/controller-runtime-metrics.json", "grafana/controller-resources-metrics.json"} {
				if clitest.ReadFile(t, filepath.Join(dir, file)) != before[file] {
					t.Errorf("%s changed", file)
				}
			}

			ours := clitest.NewProject(t, "init --domain example.com --repo example.com/ours --plugins go/v4,grafana/v1-alpha,autoupdate/v1-alpha")
			project := clitest.ReadFile(t, filepath.Join(ours, "PROJECT"))
			clitest.WriteFile(t, filepath.Join(ours, "grafana/custom-metrics/config.yaml"), grafanaMetrics)
			clitest.RunPeer(t, program, ours, "edit", "--plugins", "grafana.kubebuilder.io/v1-alpha")
			if got := len(panels(t, clitest.ReadFile(t, filepath.Join(ours, "grafana/custom-metrics/custom-metrics-dashboard.json")))); got != 2 {
				t.Errorf("the peer wrote %d panels", got)
			}
			if got := clitest.ReadFile(t, filepath.Join(ours, "PROJECT")); got != project {
				t.Errorf("the peer wrote PROJECT\n%s", got)
			}
		})
	}
}

// panels returns the panels of a dashboard as compact JSON.
func panels(t *testing.T, text string) []string {
	t.Helper()
	var dashboard struct{ Panels []any }
	if err := json.Unmarshal([]byte(text), &dashboard); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	all := make([]string, len(dashboard.Panels))
	for i, panel := range dashboard.Panels {
		compact, err := json.Marshal(panel)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = string(compact)
	}
	return all
}
