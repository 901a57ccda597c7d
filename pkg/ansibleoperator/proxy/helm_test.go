package proxy_test

import (
	"os"
	"path/filepath"
	"testing"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/proxy"
)

// TestHelm installs and upgrades a release with Helm's library: its objects and its records have the owner.
func TestHelm(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	kubeconfig, release, err := e.proxy.Register(e.owner, proxy.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	flags := genericclioptions.NewConfigFlags(false)
	flags.KubeConfig = &file
	configuration := action.NewConfiguration()
	if err := configuration.Init(flags, e.namespace, "secret"); err != nil {
		t.Fatal(err)
	}
	chart := func(text string) *chartv2.Chart {
		template := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: of-release\ndata:\n  text: " + text + "\n"
		return &chartv2.Chart{
			Metadata:  &chartv2.Metadata{APIVersion: "v2", Name: "app", Version: "1.0.0"},
			Templates: []*common.File{{Name: "templates/configmap.yaml", Data: []byte(template)}},
		}
	}
	install := action.NewInstall(configuration)
	install.ReleaseName, install.Namespace, install.WaitStrategy = "web", e.namespace, kube.HookOnlyStrategy
	if _, err := install.RunWithContext(t.Context(), chart("one"), nil); err != nil {
		t.Fatal(err)
	}
	e.wantOwner(e.configMap("of-release"))
	for _, text := range []string{"two", "three"} {
		upgrade := action.NewUpgrade(configuration)
		upgrade.Namespace, upgrade.WaitStrategy = e.namespace, kube.HookOnlyStrategy
		if _, err := upgrade.RunWithContext(t.Context(), "web", chart(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	u := e.configMap("of-release")
	if e.wantOwner(u); u.Object["data"].(map[string]any)["text"] != "three" {
		t.Errorf("%v", u.Object)
	}
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("v1")
	list.SetKind("SecretList")
	if err := e.client.List(t.Context(), list, client.InNamespace(e.namespace)); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 3 {
		t.Errorf("%d records", len(list.Items))
	}
	for _, secret := range list.Items {
		e.wantOwner(&secret)
	}
}
