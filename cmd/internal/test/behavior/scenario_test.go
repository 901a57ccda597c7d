//go:build unix

package behavior

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// scenarios are files of scenarios of the memcached operator: two that it passes, and one that fails in its second step.
func scenarios() map[string]string {
	const sample = "apiVersion: cache.example.com/v1alpha1\nkind: Memcached\nmetadata:\n  name: scaled\n"
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: scaled\n"
	return map[string]string{
		"again/00-install.yaml":   sample,
		"again/01-delete.yaml":    sample,
		"scaling/00-install.yaml": sample + "spec:\n  size: 1\n",
		"scaling/00-assert.yaml":  deployment + "spec:\n  replicas: 1\n",
		"scaling/01-patch.yaml":   sample + "spec:\n  size: 2\n",
		"scaling/01-assert.yaml":  deployment + "status:\n  readyReplicas: 2\n",
		"scaling/02-delete.yaml":  sample,
		"scaling/02-error.yaml":   deployment,
		"wrong/chainsaw-test.yaml": `apiVersion: chainsaw.kyverno.io/v1alpha1
kind: Test
metadata:
  name: wrong
spec:
  steps:
  - try:
    - apply:
        file: ../scaling/00-install.yaml
    - wait:
        apiVersion: apps/v1
        kind: Deployment
        name: scaled
        for:
          condition:
            name: Available
    - assert:
        timeout: 1s
        resource:
          apiVersion: apps/v1
          kind: Deployment
          metadata:
            name: scaled
            namespace: ($namespace)
          spec:
            replicas: 3
    - delete:
        ref:
          apiVersion: v1
          kind: Namespace
          name: default
    finally:
    - sleep:
        duration: 10ms
`,
	}
}

// TestWorkloads runs the steps of a project, and with -thorough a command, which fails if it can use the cluster.
func TestWorkloads(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]struct {
		thorough bool
		flags    []string
		want     string
		order    [][2]string // lines of the output of which the first one comes before the second one
	}{
		"scenarios": {
			false, []string{"--scenario", "scaling,wrong,again"}, "failed-assertion deployment operon-wrong/scaled",
			[][2]string{
				{"wrong: delete namespace", "scaling: create namespace"}, // it deletes what all scenarios can use
				{"scaling: create namespace", "again: delete namespace"}, {"again: create namespace", "scaling: delete namespace"},
			},
		},
		"command": {true, []string{"--rest", "1s", "--workload", `sh -c 'grep -q server: "$KUBECONFIG" && exit 3'`}, "failed-workload --workload", nil},
	} {
		if w.thorough && !*clitest.Thorough {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := clitest.CopyGolden(t, "memcached-operator")
			clitest.SetFreeWebhookPort(t, dir)
			for name, content := range scenarios() {
				file := filepath.Join(dir, "test/operon", name)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, output := testBehaviorOutput(t, dir, 1, "20s", nil, w.flags...)
			if !slices.Equal(got, []string{w.want}) {
				t.Errorf("findings %q, want %q", got, w.want)
			}
			for _, lines := range w.order {
				before, _, found := strings.Cut(output, lines[1])
				if !found || !strings.Contains(before, lines[0]) {
					t.Errorf("%q isn't before %q:\n%s", lines[0], lines[1], output)
				}
			}
		})
	}
}
