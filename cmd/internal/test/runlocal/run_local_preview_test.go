//go:build unix

package runlocal

import (
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/testdata/snapshot"
)

// olderDeployment is what an older version of the operator has made for the Memcached old, apart from the owner.
const olderDeployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: old
  ownerReferences:
  - {apiVersion: cache.example.com/v1alpha1, kind: Memcached, name: old, uid: UID, controller: true, blockOwnerDeletion: true}
spec:
  replicas: 7
  selector:
    matchLabels: {app.kubernetes.io/name: memcached, app.kubernetes.io/instance: old, app.kubernetes.io/managed-by: memcached-operator}
  template:
    metadata:
      labels: {app.kubernetes.io/name: memcached, app.kubernetes.io/instance: old, app.kubernetes.io/managed-by: memcached-operator}
    spec:
      containers:
      - {name: memcached, image: "memcached:1.4"}
`

// takeSnapshot takes a snapshot of a cluster.
func takeSnapshot(t *testing.T, c *clitest.Cluster) snapshot.Snapshot {
	t.Helper()
	client, err := kube.New(c.ControlPlane.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	return snapshot.Take(t, client)
}

// runPreview previews a project in a cluster, and checks that nothing is changed: no controller runs beside the API server.
func runPreview(t *testing.T, c *clitest.Cluster, dir string, env []string, code int, args ...string) string {
	t.Helper()
	before := takeSnapshot(t, c)
	p := clitest.StartProcess(t, dir, env, append([]string{"run", "local", "--preview"}, args...)...)
	p.MustEnd(code)
	if changes := before.Changes(takeSnapshot(t, c)); len(changes) > 0 {
		t.Errorf("the cluster has changed:\n%s", strings.Join(changes, "\n"))
	}
	return p.Output()
}

// TestRunLocalPreview checks what a preview prints, and that it changes nothing.
func TestRunLocalPreview(t *testing.T) {
	t.Parallel()
	dir := clitest.CopyGolden(t, "memcached-operator")
	c := clitest.StartCluster(t)
	kubeconfig := c.KubeconfigPath()
	run := func(t *testing.T, code int, args ...string) string {
		t.Helper()
		return runPreview(t, c, dir, nil, code, append(args, "--kubeconfig", kubeconfig)...)
	}

	t.Run("without the CRD", func(t *testing.T) {
		clitest.CheckContains(t, run(t, 0, "--check"),
			"the cluster doesn't have the CRD memcacheds.cache.example.com, and a preview doesn't install it",
			"the manager would create 0 objects, change 0 and delete 0; nothing in the cluster was changed")
	})

	c.Must("", "apply", "-f", dir+"/"+crdFile)
	c.Must("", "wait", "--for=condition=Established", "crd/memcacheds.cache.example.com")
	sample := clitest.ReadFile(t, dir+"/config/samples/cache_v1alpha1_memcached.yaml")
	c.Must(sample, "apply", "-f", "-")
	c.Must(strings.Replace(sample, "name: memcached-sample", "name: old", 1), "apply", "-f", "-")
	uid := c.Must("", "get", "memcached", "old", "-o", "jsonpath={.metadata.uid}")
	c.Must(strings.Replace(olderDeployment, "UID", uid, 1), "apply", "-f", "-")

	t.Run("changes", func(t *testing.T) {
		out := run(t, 0)
		clitest.CheckContains(t, out,
			"would create deployment.apps/default/memcached-sample\n",
			"new file mode 100644\n--- /dev/null\n+++ b/deployment.apps/default/memcached-sample\n",
			"--- a/deployment.apps/default/old\n+++ b/deployment.apps/default/old\n",
			"-  replicas: 7\n+  replicas: 1\n", "-      - image: memcached:1.4\n", "+        image: memcached:1.6.39-alpine\n",
			"+++ b/memcached.cache.example.com/default/old/status\n",
			"the manager would create 3 objects, change 3 and delete 0; nothing in the cluster was changed\n")
		for _, unwanted := range []string{"differs from the one in the cluster", "refused", "forbidden", "managedFields", "resourceVersion"} {
			if strings.Contains(out, unwanted) {
				t.Errorf("the output contains %q", unwanted)
			}
		}
		if n := strings.Count(out, "+++ b/deployment.apps/default/memcached-sample\n"); n != 1 {
			t.Errorf("the Deployment is shown %d times", n)
		}
	})
	t.Run("check", func(t *testing.T) {
		clitest.CheckContains(t, run(t, 1, "--check"), "error: the manager would change the cluster")
	})
	t.Run("interrupted", func(t *testing.T) {
		before := takeSnapshot(t, c)
		p := clitest.StartProcess(t, dir, nil, "run", "local", "--preview", "--kubeconfig", kubeconfig)
		p.WaitFor("would create deployment.apps/default/memcached-sample", 1)
		p.Interrupt()
		p.MustEnd(0)
		clitest.CheckContains(t, p.Output(), "+++ b/deployment.apps/default/memcached-sample\n", "nothing in the cluster was changed\n")
		if changes := before.Changes(takeSnapshot(t, c)); len(changes) > 0 {
			t.Errorf("the cluster has changed:\n%s", strings.Join(changes, "\n"))
		}
	})
	t.Run("other CRD and permissions", func(t *testing.T) {
		c.Must("", "patch", "crd", "memcacheds.cache.example.com", "--type=json", "-p",
			`[{"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/containerPort/maximum"}]`)
		c.Must("", "create", "clusterrole", "reader", "--verb=get,list,watch", "--resource=*.*")
		c.Must("", "create", "clusterrolebinding", "reader", "--clusterrole=reader", "--serviceaccount=default:reader")
		clitest.CheckContains(t, run(t, 0), "the CRD memcacheds.cache.example.com differs from the one in the cluster, which applies in this preview")
		kubeconfig = c.KubeconfigAs("default:reader")
		clitest.CheckContains(t, run(t, 1, "--check"),
			`warning: refused: create deployments.apps/default/memcached-sample: the API server refuses it: deployments.apps is forbidden: User "system:serviceaccount:default:reader"`)
	})
}

// TestRunLocalPreviewHelm checks that a preview of a Helm operator changes nothing, and shows the first step of an installation.
func TestRunLocalPreviewHelm(t *testing.T) {
	t.Parallel()
	program, err := clitest.Runtime()
	if err != nil {
		t.Fatal(err)
	}
	dir := clitest.CopyGolden(t, "shop-operator")
	c := clitest.StartCluster(t)
	c.Must("", "apply", "-f", dir+"/config/crd/bases/shops.example.com_shops.yaml")
	c.Must("", "wait", "--for=condition=Established", "crd/shops.shops.example.com")
	c.Must("", "apply", "-k", dir+"/config/samples")
	run := func() string {
		return runPreview(t, c, dir, []string{clitest.RuntimeVariable + "=" + program, "KUBECONFIG=" + c.KubeconfigPath()}, 0)
	}
	// The chart's CRD never comes to exist, and so the rest of the chart isn't installed.
	clitest.CheckContains(t, run(), "+++ b/shop.shops.example.com/default/shop-sample\n", "+++ b/customresourcedefinition.apiextensions.k8s.io/vouchers.shop.example.com\n",
		"nothing in the cluster was changed\n")
	c.Must("", "apply", "-f", dir+"/helm-charts/shop/crds")
	c.Must("", "wait", "--for=condition=Established", "crd/vouchers.shop.example.com")
	clitest.CheckContains(t, run(), "+++ b/secret/default/sh.helm.release.v1.shop-sample.v1\n", "release: '***'", "nothing in the cluster was changed\n")
}
