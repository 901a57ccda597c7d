package operatorchart

import (
	"bytes"
	"encoding/base64"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/cli"
	helmkube "helm.sh/helm/v4/pkg/kube"
	"helm.sh/helm/v4/pkg/strvals"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/testdata/apiserver"
)

// A helmCluster is a control plane with the helm command's functions.
type helmCluster struct {
	*testing.T
	plane  *controlplane.ControlPlane
	client *kube.Client
}

func startHelmCluster(t *testing.T) *helmCluster {
	t.Helper()
	client, plane := apiserver.Start(t)
	return &helmCluster{t, plane, client}
}

func (c *helmCluster) configuration(namespace string) *action.Configuration {
	c.Helper()
	settings := cli.New()
	settings.KubeConfig = c.plane.KubeconfigPath()
	settings.SetNamespace(namespace)
	configuration := action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler))
	if err := configuration.Init(settings.RESTClientGetter(), namespace, "secret"); err != nil {
		c.Fatal(err)
	}
	return configuration
}

// load returns a chart and values in the form of --set.
func (c *helmCluster) load(files Files, set string) (*chartv2.Chart, map[string]any) {
	c.Helper()
	var buffers []*archive.BufferedFile
	for _, name := range slices.Sorted(maps.Keys(files)) {
		buffers = append(buffers, &archive.BufferedFile{Name: name, Data: files[name]})
	}
	loaded, err := loader.LoadFiles(buffers)
	if err != nil {
		c.Fatal(err)
	}
	values, err := strvals.Parse(set)
	if err != nil {
		c.Fatal(err)
	}
	return loaded, values
}

func (c *helmCluster) install(files Files, release, namespace, set string) error {
	c.Helper()
	install := action.NewInstall(c.configuration(namespace))
	install.ReleaseName, install.Namespace, install.CreateNamespace, install.WaitStrategy = release, namespace, true, helmkube.HookOnlyStrategy
	loaded, values := c.load(files, set)
	_, err := install.Run(loaded, values)
	return err
}

func (c *helmCluster) upgrade(files Files, release, namespace, set string) {
	c.Helper()
	upgrade := action.NewUpgrade(c.configuration(namespace))
	upgrade.Namespace, upgrade.WaitStrategy = namespace, helmkube.HookOnlyStrategy
	loaded, values := c.load(files, set)
	if _, err := upgrade.Run(release, loaded, values); err != nil {
		c.Fatal(err)
	}
}

func (c *helmCluster) uninstall(release, namespace string) {
	c.Helper()
	uninstall := action.NewUninstall(c.configuration(namespace))
	uninstall.WaitStrategy = helmkube.HookOnlyStrategy
	if _, err := uninstall.Run(release); err != nil {
		c.Fatal(err)
	}
}

// get returns an object, or nil if it doesn't exist.
func (c *helmCluster) get(apiVersion, kind, namespace, name string) *kube.Object {
	c.Helper()
	o, err := c.client.Get(c.Context(), kube.Named(apiVersion, kind, namespace, name))
	if err != nil {
		c.Fatal(err)
	}
	return o
}

// TestInstall installs charts on an API server, switches their parts, upgrades them with a changed CRD, and removes them.
func TestInstall(t *testing.T) {
	c := startHelmCluster(t)
	ca := base64.StdEncoding.EncodeToString(c.plane.CAData)
	withCA := "certManager.enabled=false,webhook.caBundle=" + ca
	const crds = "apiextensions.k8s.io/v1"

	for _, name := range goldens() {
		chart, err := Make(golden(t, name))
		if err != nil {
			t.Fatal(err)
		}
		set := ""
		if name == "memcached" || name == "multigroup" {
			err := c.install(chart.Files, "first", name+"-first", "")
			if err == nil || !strings.Contains(err.Error(), "Certificate") {
				t.Errorf("%s without cert-manager: %v", name, err)
			}
			set = withCA
		}
		if err := c.install(chart.Files, name+"-operator", name+"-operator-system", set); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}

	chart, err := Make(golden(t, "memcached"))
	if err != nil {
		t.Fatal(err)
	}
	const release, namespace, manager = "memcached-operator", "memcached-operator-system", "memcached-operator-controller-manager"
	c.upgrade(chart.Files, release, namespace, withCA+",webhook.enabled=false,metrics.enabled=false,networkPolicy.enabled=true,manager.replicas=2")
	if deployment := c.get("apps/v1", "Deployment", namespace, manager); kube.IntAt(deployment.Object, "spec", "replicas") != 2 {
		t.Errorf("replicas: %v", kube.ValueAt(deployment.Object, "spec", "replicas"))
	}
	for _, gone := range []*kube.Object{
		c.get("v1", "Service", namespace, manager+"-metrics-service"), c.get("v1", "Service", namespace, "memcached-operator-webhook-service"),
		c.get("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "memcached-operator-validating-webhook-configuration"),
	} {
		if gone != nil {
			t.Errorf("%s is still there", kube.FullName(gone))
		}
	}
	if c.get("networking.k8s.io/v1", "NetworkPolicy", namespace, "memcached-operator-allow-metrics-traffic") != nil {
		t.Error("there is a network policy for metrics that nobody serves")
	}

	// Another release in the same namespace shares the CRDs.
	if err := c.install(chart.Files, "second", namespace, withCA+",crd.enabled=false"); err != nil {
		t.Fatal(err)
	}
	second := c.get("apps/v1", "Deployment", namespace, "second-"+manager)
	if kube.StringAt(second.Object, "spec", "selector", "matchLabels", "app.kubernetes.io/instance") != "second" {
		t.Errorf("the selector is %v", kube.ValueAt(second.Object, "spec", "selector", "matchLabels"))
	}
	c.uninstall("second", namespace)

	// A new version of the operator changes a CRD.
	const crdFile, crdName = "templates/crd/memcacheds.cache.example.com.yaml", "memcacheds.cache.example.com"
	chart.Files[crdFile] = bytes.Replace(chart.Files[crdFile], []byte("      name: Size\n"), []byte("      name: Number\n"), 1)
	c.upgrade(chart.Files, release, namespace, withCA)
	versions := kube.ListAt(c.get(crds, "CustomResourceDefinition", "", crdName).Object, "spec", "versions")
	if columns := kube.ListAt(versions[0], "additionalPrinterColumns"); kube.StringAt(columns[0], "name") != "Number" {
		t.Errorf("the CRD has the columns %v", columns)
	}

	c.uninstall(release, namespace)
	if c.get("apps/v1", "Deployment", namespace, manager) != nil {
		t.Error("the manager is still there")
	}
	if c.get(crds, "CustomResourceDefinition", "", crdName) == nil {
		t.Error("the CRD is gone, and all custom resources with it")
	}
	if err := c.install(chart.Files, release, namespace, withCA); err != nil {
		t.Fatalf("with the CRD that was kept: %v", err)
	}
	c.upgrade(chart.Files, release, namespace, withCA+",crd.keep=false")
	c.uninstall(release, namespace)
	if crd := c.get(crds, "CustomResourceDefinition", "", crdName); crd != nil && crd.GetDeletionTimestamp() == nil {
		t.Error("the CRD is kept")
	}
}
