package clitest

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/controlplane"
)

// A Cluster is a running API server with a kubectl that uses it.
type Cluster struct {
	T *testing.T
	*controlplane.ControlPlane
	assets     controlplane.Assets
	Kubeconfig string
}

// StartCluster starts a local control plane for a test.
func StartCluster(t *testing.T) *Cluster {
	t.Helper()
	SkipIfShort(t, "it starts a control plane")
	assets, err := ControlPlaneAssets()
	if err != nil {
		t.Fatal(err)
	}
	plane, err := controlplane.Start(context.Background(), assets, controlplane.StartOptions{Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	return &Cluster{T: t, ControlPlane: plane, assets: assets, Kubeconfig: plane.KubeconfigPath()}
}

// Kubectl runs kubectl with a manifest on stdin and returns its output.
func (c *Cluster) Kubectl(stdin string, args ...string) (string, error) {
	k := exec.Command(c.assets.Path(controlplane.Kubectl), args...)
	k.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig)
	k.Stdin = strings.NewReader(stdin)
	out, err := k.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// Must runs kubectl and returns its output. The test fails if the command does.
func (c *Cluster) Must(stdin string, args ...string) string {
	c.T.Helper()
	out, err := c.Kubectl(stdin, args...)
	if err != nil {
		c.T.Fatal(err)
	}
	return out
}

// MustRefuse checks that kubectl fails with an error that contains want.
func (c *Cluster) MustRefuse(want, stdin string, args ...string) {
	c.T.Helper()
	if out, err := c.Kubectl(stdin, args...); err == nil || !strings.Contains(out, want) {
		c.T.Errorf("kubectl %s: got %q (%v), want %q", strings.Join(args, " "), out, err, want)
	}
}

// Eventually runs kubectl until its output is want, less and less often: it takes more CPU time than most of what it waits for.
func (c *Cluster) Eventually(want string, args ...string) {
	c.T.Helper()
	var got string
	var err error
	pause := 100 * time.Millisecond
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(pause) {
		pause = min(pause*3/2, time.Second)
		if got, err = c.Kubectl("", args...); err == nil && strings.TrimSpace(got) == want {
			return
		}
	}
	c.T.Fatalf("kubectl %s: got %q (%v), want %q", strings.Join(args, " "), got, err, want)
}

// KubeconfigAs writes a kubeconfig that impersonates a service account.
func (c *Cluster) KubeconfigAs(serviceAccount string) string {
	c.T.Helper()
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: local
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: manager
  user:
    token: %s
    as: system:serviceaccount:%s
    as-groups: ["system:serviceaccounts", "system:authenticated"]
contexts:
- name: local
  context: {cluster: local, user: manager}
current-context: local
`, c.URL, base64.StdEncoding.EncodeToString(c.CAData), c.Token, serviceAccount)
	name := filepath.Join(c.T.TempDir(), "kubeconfig")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		c.T.Fatal(err)
	}
	return name
}
