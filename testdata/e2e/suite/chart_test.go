package suite

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/action"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/cli"
	helmkube "helm.sh/helm/v4/pkg/kube"
)

// testChart generates the Helm chart of the golden project, installs it with webhooks, sees its manager reconcile, upgrades it with a changed CRD,
// and removes it. Helm keeps the CRD.
func (b *bench) testChart(t *testing.T, dir string) {
	const crd = "memcacheds.cache.example.com"
	b.run(t, dir, b.operon, "edit", "--plugins", "helm/v2-alpha")
	image := b.image(projectImage)
	at := strings.LastIndexByte(image, ':')
	manager := map[string]any{"image": map[string]any{"repository": image[:at], "tag": image[at+1:]}}
	values := map[string]any{"manager": manager}
	available := func() {
		t.Helper()
		b.run(t, dir, "kubectl", "-n", projectNamespace, "rollout", "status", "--timeout=3m", "deployment/memcached-operator-controller-manager")
	}

	install := action.NewInstall(b.helm(t, projectNamespace))
	install.ReleaseName, install.Namespace, install.CreateNamespace, install.WaitStrategy = "memcached-operator", projectNamespace, true, helmkube.HookOnlyStrategy
	if _, err := install.Run(loadChart(t, dir), values); err != nil {
		t.Fatal(err)
	}
	available()
	b.progress.Done("memcached-operator's chart installed")
	b.testReconciling(t, dir)

	b.run(t, dir, "sed", "-i", "s/name: Size/name: Number/", "dist/chart/templates/crd/"+crd+".yaml")
	manager["replicas"] = 2
	upgrade := action.NewUpgrade(b.helm(t, projectNamespace))
	upgrade.Namespace, upgrade.WaitStrategy = projectNamespace, helmkube.HookOnlyStrategy
	if _, err := upgrade.Run("memcached-operator", loadChart(t, dir), values); err != nil {
		t.Fatal(err)
	}
	available()
	if column := b.run(t, dir, "kubectl", "get", "crd", crd, "-o", "jsonpath={.spec.versions[0].additionalPrinterColumns[0].name}"); column != "Number" {
		t.Errorf("after the upgrade, the first column of the CRD is %q", column)
	}
	b.testReconciling(t, dir)
	b.progress.Done("memcached-operator's chart upgraded")

	uninstall := action.NewUninstall(b.helm(t, projectNamespace))
	uninstall.WaitStrategy = helmkube.HookOnlyStrategy
	if _, err := uninstall.Run("memcached-operator"); err != nil {
		t.Fatal(err)
	}
	b.run(t, dir, "kubectl", "delete", "crd", crd) // fails if Helm hasn't kept it
	b.run(t, dir, "kubectl", "delete", "namespace", projectNamespace)
}

// loadChart loads the project's chart.
func loadChart(t *testing.T, dir string) *chartv2.Chart {
	t.Helper()
	chart, err := loader.LoadDir(filepath.Join(dir, "dist", "chart"))
	if err != nil {
		t.Fatal(err)
	}
	return chart
}

// helm returns what the helm command uses.
func (b *bench) helm(t *testing.T, namespace string) *action.Configuration {
	t.Helper()
	settings := cli.New()
	settings.KubeConfig = b.kubeconfig
	settings.SetNamespace(namespace)
	configuration := action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler))
	if err := configuration.Init(settings.RESTClientGetter(), namespace, "secret"); err != nil {
		t.Fatal(err)
	}
	return configuration
}
