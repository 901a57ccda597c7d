//go:build unix

package upgrade

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// TestUpgradeOfProxy upgrades a project whose user set the resources of kube-rbac-proxy. The proxy is kept, and the
// patches of the current scaffold, which change the first container, do not change it.
func TestUpgradeOfProxy(t *testing.T) {
	t.Parallel()
	dir := oldWebhooks(t, [][3]string{{"config/default/manager_auth_proxy_patch.yaml", "cpu: 500m", "cpu: 700m"}},
		"init --plugins go/v3 --domain example.com --repo example.com/walk --project-name walk --fetch-deps=false --skip-go-version-check",
		"create api --group cache --version v1 --kind Memcached --resource --controller --make=false",
		"create webhook --group cache --version v1 --kind Memcached --defaulting --programmatic-validation")
	clitest.MustRun(t, dir, "upgrade")
	if text := clitest.ReadFile(t, filepath.Join(dir, "cmd/main.go")); !strings.Contains(text, `"metrics-secure", false,`) {
		t.Error("the proxy cannot ask the manager for metrics without TLS")
	}
	out, err := manifest.Build(dir, "config/default")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"kube-rbac-proxy": "[--secure-listen-address=0.0.0.0:8443 --upstream=http://127.0.0.1:8080/ --logtostderr=true --v=0] [8443]",
		"manager":         "[--health-probe-bind-address=:8081 --metrics-bind-address=127.0.0.1:8080 --leader-elect] [9443 8081]",
	}
	got := map[string]string{}
	for document := range strings.SplitSeq(string(out), "\n---\n") {
		var object struct {
			Kind string
			Spec struct{ Template corev1.PodTemplateSpec }
		}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatal(err)
		}
		if object.Kind != "Deployment" {
			continue
		}
		for _, c := range object.Spec.Template.Spec.Containers {
			var ports []int32
			for _, p := range c.Ports {
				ports = append(ports, p.ContainerPort)
			}
			got[c.Name] = fmt.Sprint(c.Args, ports)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
