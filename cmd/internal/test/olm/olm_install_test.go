//go:build unix

package olm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// nothingThere runs commands that need OLM, without it.
func (c *olmCluster) nothingThere(t *testing.T) {
	_, errOut := c.must(t, 1, "status")
	clitest.CheckContains(t, errOut, "OLM is not installed in the namespace olm; 'operon olm install' installs it")
	_, errOut = c.must(t, 0, "uninstall")
	clitest.CheckContains(t, errOut, "OLM is not installed in the namespace olm; there is nothing to remove")
}

// noRights runs commands as users who may not install OLM.
func (c *olmCluster) noRights(t *testing.T) {
	nobody := c.KubeconfigAs(t, "nobody")
	for _, args := range [][]string{{"install"}, {"status"}, {"uninstall"}} {
		code, _, errOut := c.operonAs(nobody, args...)
		if code != 1 || !strings.Contains(errOut, `the cluster rejects this user: listing customresourcedefinitions: customresourcedefinitions.apiextensions.k8s.io is forbidden: User "nobody"`) {
			t.Errorf("olm %s: %d\n%s", args[0], code, errOut)
		}
	}
	c.Apply(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: reader},
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}, subjects: [{kind: User, name: reader, apiGroup: rbac.authorization.k8s.io}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: reader}, rules: [{apiGroups: ["*"], resources: ["*"], verbs: [get, list]}]}`)
	c.Try(t, func() error { // rights take a moment
		code, _, errOut := c.operonAs(c.KubeconfigAs(t, "reader"), "install")
		for _, text := range []string{"the cluster forbids this user 24 of 29 objects, and nothing was changed:", "  deployment olm/olm-operator: ", "OLM needs cluster-admin"} {
			if code != 1 || !strings.Contains(errOut, text) {
				return fmt.Errorf("%d, want %q in\n%s", code, text, errOut)
			}
		}
		return nil
	})
	c.Delete(t, "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", "reader")
	c.Delete(t, "rbac.authorization.k8s.io/v1", "ClusterRole", "", "reader")
	c.checkUnchanged(t)
}

// killInstall kills install at the last of its NetworkPolicies.
func (c *olmCluster) killInstall(t *testing.T) {
	t.Helper()
	c.killedAt(t, "PATCH", "/apis/networking.k8s.io/v1/namespaces/olm/networkpolicies/packageserver", "install")
}

// installKilled kills install, and looks at what it leaves.
func (c *olmCluster) installKilled(t *testing.T) {
	c.killInstall(t)
	_, errOut := c.must(t, 1, "status")
	clitest.CheckContains(t, errOut, "the installed version is unknown", "deployment olm/olm-operator is missing")
}

// installCompleted completes an installation that was killed.
func (c *olmCluster) installCompleted(t *testing.T) {
	out, errOut := c.must(t, 0, "install")
	clitest.CheckContains(t, errOut, "unchanged networkpolicy olm/catalog-operator", "created networkpolicy olm/packageserver", "deployment olm/olm-operator is ready", "clusterserviceversion olm/packageserver is ready", "OLM v0.46.0 is installed",
		"catalogsource olm/operatorhubio-catalog is not ready yet: not processed by catalog-operator yet; OLM works without it, and 'operon olm status' shows its state\n")
	tutorial := strings.Split(tutorialTable(t), "\n")
	for _, line := range tutorial {
		clitest.CheckContains(t, out, line+"\n")
	}
	if out[:len(tutorial[0])+1] != tutorial[0]+"\n" || strings.Count(out, "\n") != 30 {
		t.Errorf("the table is\n%s", out)
	}
}

// tutorialTable is what operator-sdk's tutorial shows after olm install.
func tutorialTable(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(clitest.ReadFile(t, clitest.Testdata("olm", "tutorial-table.txt")))
}

// statusOfInstalled checks what status says about an unchanged installation.
func (c *olmCluster) statusOfInstalled(t *testing.T) {
	out, errOut := c.must(t, 0, "status")
	clitest.CheckContains(t, errOut, "OLM v0.46.0 in the namespace olm, according to the packageserver ClusterServiceVersion")
	if lost, _ := c.must(t, 0, "uninstall", "--dry-run"); lost != "" {
		t.Errorf("users would lose\n%s", lost)
	}
	if strings.Contains(errOut, "differs") {
		t.Error(errOut)
	}
	clitest.CheckContains(t, out, "packageserver                                   olm          ClusterServiceVersion       Installed\n",
		"operatorhubio-catalog                           olm          CatalogSource               NotReady\n")
	out, _ = c.must(t, 0, "status", "--version", "v0.46.0", "-o", "json")
	var status olm.Status
	if err := json.Unmarshal([]byte(out), &status); err != nil || !status.Healthy || status.Version != "v0.46.0" || len(status.Objects) != 29 {
		t.Errorf("%v: %s", err, out)
	}
	_, errOut = c.must(t, 1, "status", "--version", "0.45.0")
	clitest.CheckContains(t, errOut, "OLM v0.46.0 is installed according to the packageserver ClusterServiceVersion, not v0.45.0")
	_, errOut = c.must(t, 1, "status", "--olm-namespace", "other")
	clitest.CheckContains(t, errOut, "OLM runs in the namespace olm; pass --olm-namespace olm")
}

// installedAgain checks that another installation changes nothing.
func (c *olmCluster) installedAgain(t *testing.T) {
	_, errOut := c.must(t, 0, "install")
	if clitest.CheckContains(t, errOut, "OLM is already installed"); strings.Count(errOut, "\nunchanged ") != 29 {
		t.Error(errOut)
	}
	out, _ := c.must(t, 0, "install", "--dry-run", "-o", "yaml")
	objects, err := kube.Decode([]byte(out))
	if err != nil || len(objects) != 29 {
		t.Fatal(len(objects), err)
	}
	for _, o := range objects {
		if change, err := c.Client.ApplyOrRecreate(t.Context(), o); err != nil || change != kube.Unchanged {
			t.Errorf("applying the output of --dry-run: %s %s %v", change, kube.FullName(o), err)
		}
	}
}

// halfDeleted repairs an installation that others have deleted parts of.
func (c *olmCluster) halfDeleted(t *testing.T) {
	c.Delete(t, "apps/v1", "Deployment", "olm", "olm-operator")
	c.Delete(t, "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", "olm-operator-binding-olm")
	c.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "olmconfigs.operators.coreos.com")
	c.Delete(t, "v1", "Namespace", "", "operators")
	c.Patch(t, kube.Named("apps/v1", "Deployment", "olm", "catalog-operator"), "", `{"spec":{"replicas":2}}`)
	_, errOut := c.must(t, 1, "status")
	clitest.CheckContains(t, errOut, "deployment olm/olm-operator is missing", "clusterrolebinding olm-operator-binding-olm is missing", "olmconfig cluster is missing",
		"deployment olm/catalog-operator differs: spec.replicas is 2, the release has 1")
	_, errOut = c.must(t, 0, "install")
	clitest.CheckContains(t, errOut, "created deployment olm/olm-operator", "updated deployment olm/catalog-operator", "created namespace operators")
	_, errOut = c.must(t, 0, "status")
	if strings.Contains(errOut, "differs") {
		t.Error(errOut)
	}
}

// podsDoNotStart checks that install explains why it is not ready.
func (c *olmCluster) podsDoNotStart(t *testing.T) {
	nodes, err := c.Client.List(t.Context(), kube.Resource{APIVersion: "v1", Name: "nodes"}, "", nil)
	if err != nil || len(nodes) != 1 {
		t.Fatal(nodes, err)
	}
	c.Patch(t, nodes[0], "", `{"spec":{"unschedulable":true}}`)
	var pod *kube.Object
	pods := func() []*kube.Object {
		pods, err := c.Client.List(t.Context(), kube.Resource{APIVersion: "v1", Name: "pods"}, "olm", nil)
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(pods, func(o *kube.Object) bool { return !strings.HasPrefix(o.GetName(), "catalog-operator-") })
	}
	for _, old := range pods() {
		c.Delete(t, "v1", "Pod", "olm", old.GetName())
	}
	c.Try(t, func() error {
		for _, new := range pods() {
			if pod = new; strings.Contains(fmt.Sprint(new.Object["status"]), "unschedulable") {
				return nil
			}
		}
		return fmt.Errorf("no pod waits for a node")
	})
	// The cause of a real node, beside the one of this cluster.
	c.Patch(t, pod, "/status", `{"status":{"containerStatuses":[{"name":"catalog-operator","image":"quay.io/operator-framework/olm:v0.46.0",
"imageID":"","ready":false,"restartCount":0,"state":{"waiting":{"reason":"ImagePullBackOff","message":"Back-off pulling it"}}}]}}`)
	const notReady = "\n  deployment olm/catalog-operator: 0 of 1 updated replicas are available\n"
	errOut, timeout := patiently(12*time.Second, notReady, func(timeout string) string {
		_, errOut := c.must(t, 1, "install", "--timeout", timeout)
		return errOut
	})
	clitest.CheckContains(t, errOut, "error: OLM is not ready: not done within "+timeout+notReady,
		"    no node accepts it: Unschedulable: 0/1 nodes are available: 1 node(s) were unschedulable.",
		"    container catalog-operator is waiting: ImagePullBackOff: Back-off pulling it\n",
		"- the nodes cannot pull quay.io/operator-framework/olm:v0.46.0: pass --image-registry with a registry that they can reach and that has it, or --olm-image\n",
		"- add a node that accepts the pods to the cluster: Linux",
		"- run 'operon olm install' again to continue")
	c.Patch(t, nodes[0], "", `{"spec":{"unschedulable":null}}`)
	c.must(t, 0, "install")
}
