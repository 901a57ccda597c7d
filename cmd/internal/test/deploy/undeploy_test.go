//go:build unix

package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/kube"
)

// custom is a custom resource that the manager holds.
const custom = "{apiVersion: cache.example.com/v1alpha1, kind: Memcached, metadata: {name: mine, namespace: default, finalizers: [cache.example.com/finalizer]}, spec: {size: 1}}"

// withoutWebhooks removes the admission webhooks, which nothing serves.
func (c *cluster) withoutWebhooks(t *testing.T) {
	t.Helper()
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		prefix := strings.ToLower(strings.TrimSuffix(kind, "WebhookConfiguration"))
		c.Delete(t, "admissionregistration.k8s.io/v1", kind, "", "memcached-operator-"+prefix+"-webhook-configuration")
	}
}

// undeployKeepsData removes the operator, but neither its CRD nor what others have in its namespace.
func (c *cluster) undeployKeepsData(t *testing.T) {
	c.withoutWebhooks(t)
	c.Apply(t, custom+"\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: mine, namespace: "+namespace+"}}")
	c.unchanged(t, func() {
		_, errOut := c.operonAs(t, c.KubeconfigAs(t, "viewer"), 1, "undeploy")
		clitest.CheckContains(t, errOut, "the cluster rejects this user, and nothing was deleted: ")
		out, errOut := c.operon(t, 0, "undeploy", "--dry-run")
		clitest.CheckContains(t, out, "would delete deployment "+namespace+"/"+manager+"\n", "would delete configmap "+namespace+"/operon-memcached-operator\n")
		clitest.CheckContains(t, errOut, "kept customresourcedefinition "+crdName+": 1 custom resource: default/mine; --delete-crds deletes it with its data",
			"1 of them have finalizers", "kept namespace "+namespace+", which contains other objects: configmap "+namespace+"/mine")
	})
	_, errOut := c.operon(t, 0, "undeploy")
	if position(t, errOut, "deleted deployment "+namespace) > position(t, errOut, "deleted clusterrole memcached-operator-manager-role") {
		t.Errorf("the manager is deleted after its role:\n%s", errOut)
	}
	clitest.CheckContains(t, errOut, "kept namespace "+namespace+", which contains other objects: configmap "+namespace+"/mine", "memcached-operator is undeployed: ")
	c.exists(t, true, "apiextensions.k8s.io/v1", kube.CRDKind, "", crdName)
	c.exists(t, true, "cache.example.com/v1alpha1", "Memcached", "default", "mine")
	c.exists(t, false, "apps/v1", "Deployment", namespace, manager)
	c.exists(t, false, "rbac.authorization.k8s.io/v1", "ClusterRole", "", "memcached-operator-manager-role")

	c.Delete(t, "v1", "ConfigMap", namespace, "mine")
	_, errOut = c.operon(t, 0, "undeploy")
	clitest.CheckContains(t, errOut, "deleted namespace "+namespace, "1 object deleted")
	c.exists(t, false, "v1", "Namespace", "", namespace)
	_, errOut = c.operon(t, 0, "undeploy")
	clitest.CheckContains(t, errOut, "memcached-operator is not deployed; there is nothing to delete")
}

// undeployDeletesCRDs removes the operator with its CRD, after the user has agreed.
func (c *cluster) undeployDeletesCRDs(t *testing.T) {
	c.operon(t, 0, "deploy", "--image", image)
	c.withoutWebhooks(t)
	const loss = crdName + ": 1 custom resource: default/mine\n"
	c.unchanged(t, func() {
		_, errOut := c.operon(t, 1, "undeploy", "--delete-crds")
		clitest.CheckContains(t, errOut, "users would lose these custom resources, and nothing was deleted:\n", loss, "pass --yes to delete all of them")
		clitest.CheckContains(t, c.atTerminal(t, false, 1, "undeploy", "--delete-crds"), loss, "nothing was deleted")
		out, _ := c.operon(t, 0, "undeploy", "--delete-crds", "--dry-run")
		if position(t, out, "would delete memcached default/mine") > position(t, out, "would delete deployment "+namespace) {
			t.Errorf("custom resources would be deleted after the manager:\n%s", out)
		}
		clitest.CheckContains(t, out, "would delete customresourcedefinition "+crdName)
	})
	crd := kube.Named(kube.CRDVersion, kube.CRDKind, "", crdName)
	c.Patch(t, crd, "", `{"metadata":{"labels":{"operators.coreos.com/memcached-operator.operators":""}}}`)
	_, errOut := c.operon(t, 0, "undeploy", "--delete-crds", "--dry-run")
	clitest.CheckContains(t, errOut, "kept customresourcedefinition "+crdName+", which OLM has installed, too")
	c.Patch(t, crd, "", `{"metadata":{"labels":{"operators.coreos.com/memcached-operator.operators":null}}}`)
	// The manager, which is simulated, removes no finalizers.
	const held = "memcached default/mine is being deleted and still exists: not done within "
	text := patiently(held, func(timeout string) string {
		return c.atTerminal(t, true, 1, "undeploy", "--delete-crds", "--timeout", timeout)
	})
	clitest.CheckContains(t, text, held, "its finalizer cache.example.com/finalizer is not removed", "the manager still runs and has not removed the finalizers", "run the command again to continue")
	c.exists(t, true, "apps/v1", "Deployment", namespace, manager)

	c.Patch(t, kube.Named("cache.example.com/v1alpha1", "Memcached", "default", "mine"), "", `{"metadata":{"finalizers":null}}`)
	_, errOut = c.operon(t, 0, "undeploy", "--delete-crds", "--yes")
	clitest.CheckContains(t, errOut, "deleted customresourcedefinition "+crdName, "deleted namespace "+namespace)
	for _, o := range c.ListObjects(t) {
		if strings.Contains(o, "memcached-operator") || strings.Contains(o, crdName) {
			t.Errorf("%s remains", o)
		}
	}
}

// makeDeploy deploys with kubectl, as the Makefile does and as it did before, and with operon in turn.
func (c *cluster) makeDeploy(t *testing.T) {
	c = &cluster{WorkloadCluster: c.WorkloadCluster, dir: clitest.CopyGolden(t, "minimal-operator")}
	const system, name = "minimal-operator-system", "minimal-operator-controller-manager"
	flags := regexp.MustCompile(`(?m)^KUBECTL_APPLY_FLAGS \?= (.*)$`).FindStringSubmatch(clitest.ReadFile(t, filepath.Join(c.dir, "Makefile")))
	kubectl := func(image string, flags ...string) {
		t.Helper()
		manifests := clitest.MustRun(t, c.dir, "tool", "kustomize", "build", "config/default")
		k := exec.Command(c.Plane.Assets.Path(controlplane.Kubectl), append(append([]string{"apply"}, flags...), "-f", "-")...)
		k.Env = append(os.Environ(), "KUBECONFIG="+c.Plane.KubeconfigPath())
		k.Stdin = strings.NewReader(strings.ReplaceAll(manifests, "controller:latest", image))
		if out, err := k.CombinedOutput(); err != nil {
			t.Fatalf("kubectl apply %s: %v\n%s", strings.Join(flags, " "), err, out)
		}
	}
	const file, label = "config/manager/manager.yaml", "    former: label\n"
	clitest.EditFile(t, c.dir, file, "    control-plane: controller-manager\n", "    control-plane: controller-manager\n"+label)
	kubectl("example.com/m:v1")
	clitest.EditFile(t, c.dir, file, label, "")
	kubectl("example.com/m:v2", strings.Fields(flags[1])...)
	if live := c.Get(t, "apps/v1", "Deployment", system, name); live.GetLabels()["former"] != "" {
		t.Errorf("fields of client-side apply remain: %v", live.GetLabels())
	}
	c.operon(t, 0, "deploy", "--image", "example.com/m:v3", "--wait")
	kubectl("example.com/m:v4", strings.Fields(flags[1])...)
	c.operon(t, 0, "deploy", "--image", "example.com/m:v5")
	if live := c.Get(t, "apps/v1", "Deployment", system, name); !strings.Contains(fmt.Sprint(live.Object["spec"]), "example.com/m:v5") {
		t.Errorf("the manager is %v", live)
	}
	c.operon(t, 0, "undeploy", "--delete-crds")
}

// otherLayouts deploys operators without Go code, and removes them.
func (c *cluster) otherLayouts(t *testing.T) {
	for _, project := range []string{"shop-operator", "site-operator"} {
		c := &cluster{WorkloadCluster: c.WorkloadCluster, dir: clitest.CopyGolden(t, project)}
		ref := "example.com/" + project + ":v2"
		_, errOut := c.operon(t, 0, "deploy", "--image", ref, "--wait")
		clitest.CheckContains(t, errOut, " is available", project+" is deployed to the namespace "+project+"-system")
		live := c.Get(t, "apps/v1", "Deployment", project+"-system", project+"-controller-manager")
		if live == nil || !strings.Contains(fmt.Sprint(live.Object["spec"]), ref) {
			t.Errorf("the manager is %v", live)
		}
		_, errOut = c.operon(t, 0, "undeploy", "--delete-crds")
		clitest.CheckContains(t, errOut, "deleted customresourcedefinition ", "deleted namespace "+project+"-system")
	}
}
