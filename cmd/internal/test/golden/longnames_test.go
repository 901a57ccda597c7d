package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/kube"
)

// TestLongNames checks the manifests of projects with long names: the names of Services and namespaces are valid, and the certificates and
// tests have them.
func TestLongNames(t *testing.T) {
	t.Parallel()
	const longest = "an-operator-with-a-name-of-as-many-characters-as-a-label-can-63"
	for name, want := range map[string][2]string{ // the namespace, and the metrics service
		longest[:28]: {longest[:28] + "-system", longest[:28] + "-controller-manager-metrics-service"},
		longest[:29]: {longest[:29] + "-system", longest[:29] + "-metrics-service"},
		longest[:47]: {longest[:47] + "-system", longest[:47] + "-metrics-service"},
		longest:      {"", ""},
	} {
		for _, plugin := range []string{"go/v4", "helm/v1", "ansible/v1"} {
			t.Run(plugin[:2]+name, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), name)
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				if plugin != "go/v4" {
					clitest.MustRun(t, dir, "init", "--plugins", plugin, "--domain", "example.com")
					checkLongNames(t, buildObjects(t, dir, "config/default"), want)
					return
				}
				clitest.MustRun(t, dir, "init", "--domain", "example.com", "--repo", "example.com/"+name)
				clitest.MustRun(t, dir, "create", "api", "--group", "cache", "--version", "v1", "--kind", "Memcached", "--resource", "--controller")
				clitest.MustRun(t, dir, "create", "webhook", "--group", "cache", "--version", "v1", "--kind", "Memcached", "--defaulting", "--programmatic-validation")
				objects := buildObjects(t, dir, "config/default")
				checkLongNames(t, objects, want)
				checkWebhookManifests(t, objects, 2, true)
				tests := clitest.ReadFile(t, filepath.Join(dir, "test", "e2e", "e2e_test.go"))
				for _, o := range []*kube.Object{
					one(t, objects, "Namespace", "-system"), one(t, objects, "Service", "-metrics-service"), one(t, objects, "Service", "-webhook-service"),
					one(t, objects, "ServiceAccount", "-controller-manager"), one(t, objects, "MutatingWebhookConfiguration", ""),
				} {
					if !strings.Contains(tests, `"`+o.GetName()+`"`) && !strings.Contains(tests, "="+o.GetName()+`"`) {
						t.Errorf("the end-to-end tests don't name %s", kube.Name(o))
					}
				}
			})
		}
	}
}

func checkLongNames(t *testing.T, objects []*kube.Object, want [2]string) {
	t.Helper()
	namespace, service := one(t, objects, "Namespace", "-system").GetName(), one(t, objects, "Service", "-metrics-service").GetName()
	if want[0] != "" && (namespace != want[0] || service != want[1]) {
		t.Errorf("got %s and %s, want %s", namespace, service, want)
	}
	for _, o := range objects {
		if kind := o.GetKind(); (kind == "Namespace" || kind == "Service") && len(o.GetName()) > 63 {
			t.Errorf("%s has %d characters", kube.Name(o), len(o.GetName()))
		}
		for key, value := range o.GetLabels() {
			if len(value) > 63 {
				t.Errorf("%s has label %s=%s", kube.Name(o), key, value)
			}
		}
		if o.GetNamespace() != "" && o.GetNamespace() != namespace {
			t.Errorf("%s is in %s, not %s", kube.Name(o), o.GetNamespace(), namespace)
		}
	}
}
