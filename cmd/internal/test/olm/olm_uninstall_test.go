//go:build unix

package olm

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
)

// serviceUnreachable breaks the API service of the package server, which status and install must report.
func (c *olmCluster) serviceUnreachable(t *testing.T) {
	service := kube.Named("apiregistration.k8s.io/v1", "APIService", "", "v1.packages.operators.coreos.com")
	c.Patch(t, service, "", `{"spec":{"service":{"port":1}}}`)
	c.Patch(t, kube.Named("v1", "Service", "olm", "packageserver-service"), "", `{"spec":{"ports":[{"port":1}]}}`)
	c.Try(t, func() error {
		if kube.HealthOf(c.Get(t, "apiregistration.k8s.io/v1", "APIService", "", "v1.packages.operators.coreos.com")).Ready {
			return fmt.Errorf("it is still available")
		}
		return nil
	})
	_, errOut := c.must(t, 1, "status")
	clitest.CheckContains(t, errOut, "clusterserviceversion olm/packageserver: apiservice v1.packages.operators.coreos.com: FailedDiscoveryCheck:")
	const unavailable = "apiservice v1.packages.operators.coreos.com: FailedDiscoveryCheck:"
	errOut, _ = patiently(40*time.Second, unavailable, func(timeout string) string {
		_, errOut := c.must(t, 1, "install", "--timeout", timeout)
		return errOut
	})
	clitest.CheckContains(t, errOut, unavailable, "- the API server must reach the pods of service olm/packageserver-service on port 5443")
}

// uninstallWithOperator checks that uninstall removes nothing of users unless they agree.
func (c *olmCluster) uninstallWithOperator(t *testing.T) {
	c.installOperator(t)
	_, errOut := c.must(t, 1, "uninstall")
	lines := `operator operators/memcached-operator.v0.0.1 will be deleted with its deployments and permissions
  memcacheds.cache.example.com: 1 will be deleted with their namespace: operators/going
  memcacheds.cache.example.com: 1 will be kept without an operator: default/staying
subscription operators/memcached-operator will be deleted
catalog olm/mine will be deleted
configmap operators/mine will be deleted with its namespace
`
	clitest.CheckContains(t, errOut, diag.Continue("users would lose these objects, and nothing was removed:\n"+lines+"pass --force to remove all of them\n"))
	out, _ := c.must(t, 0, "uninstall", "--dry-run")
	clitest.CheckContains(t, lines, out)
	for answer, want := range map[string]string{"no": "nothing was removed", "y": "nothing was removed"} {
		if code, text := c.atTerminal(answer, "uninstall"); code != 1 || !strings.Contains(text, want) {
			t.Errorf("answer %s: %d, %s", answer, code, text)
		}
	}
	if c.Get(t, "operators.coreos.com/v1alpha1", "Subscription", "operators", "memcached-operator") == nil {
		t.Error("something was removed")
	}
}

// killUninstall kills uninstall when it deletes a resource of an operator. Then a user deletes a namespace, which an object holds.
func (c *olmCluster) killUninstall(t *testing.T) {
	t.Helper()
	c.killedAt(t, "DELETE", "/apis/cache.example.com/v1/namespaces/operators/memcacheds/going", "uninstall", "--force")
	// What the operator would do about its resources is no longer done, and a user deletes a namespace.
	c.Apply(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: stuck, namespace: olm, finalizers: [example.com/never]}}`)
	c.Delete(t, "v1", "Namespace", "", "olm")
}

// uninstallKilled checks that install does not wait for what only uninstall removes.
func (c *olmCluster) uninstallKilled(t *testing.T) {
	c.killUninstall(t)
	const terminating = "namespace olm has been terminating since"
	errOut, timeout := patiently(5*time.Second, terminating, func(timeout string) string {
		_, errOut := c.must(t, 1, "install", "--timeout", timeout)
		return errOut
	})
	clitest.CheckContains(t, errOut, terminating, "still exists (not done within "+timeout+")", "'operon olm uninstall' removes what delays it; then install again")
}

// otherServiceUnreachable continues uninstall while an API service of another program holds the namespaces.
func (c *olmCluster) otherServiceUnreachable(t *testing.T) {
	c.Apply(t, `{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.other.example.com}, spec: {group: other.example.com, version: v1,
groupPriorityMinimum: 10, versionPriority: 10, service: {name: gone, namespace: default}}}`)
	const undiscovered = "\n  NamespaceDeletionDiscoveryFailure: "
	text := ""
	_, timeout := patiently(16*time.Second, undiscovered, func(timeout string) string {
		code, more := c.atTerminal("yes", "uninstall", "--timeout", timeout)
		if code != 1 {
			t.Errorf("exit code %d\n%s", code, more)
		}
		text += more
		return text
	})
	clitest.CheckContains(t, text, "removing the finalizer example.com/wait of memcached operators/going, which its controller does not remove", "removing the finalizer example.com/never of configmap olm/stuck, which its controller does not remove",
		"deleted apiservice v1.packages.operators.coreos.com", " was not deleted: not done within "+timeout+undiscovered,
		"\n  apiservice v1.other.example.com is not available (ServiceNotFound: ", "'kubectl delete apiservice v1.other.example.com'; uninstall again to continue")
	c.Delete(t, "apiregistration.k8s.io/v1", "APIService", "", "v1.other.example.com")
}

// uninstallCompleted removes the rest of OLM, and nothing else.
func (c *olmCluster) uninstallCompleted(t *testing.T) {
	_, errOut := c.must(t, 0, "uninstall")
	clitest.CheckContains(t, errOut, "deleted clusterrole system:controller:operator-lifecycle-manager", "OLM is removed\n")
	if c.Get(t, "cache.example.com/v1", "Memcached", "default", "staying") == nil {
		t.Error("a resource outside of OLM's namespaces is removed")
	}
	c.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "memcacheds.cache.example.com")
	c.checkUnchanged(t)
	c.must(t, 0, "uninstall")
}

// atTerminal runs a command with a user who answers.
func (c *olmCluster) atTerminal(answer string, args ...string) (code int, text string) {
	var out clitest.Buffer
	env := &cmd.Env{In: strings.NewReader(""), Out: &out, Err: &out, Dir: c.dir, FS: afero.NewOsFs(), Now: time.Now, HTTP: c.http,
		Environ: []string{"KUBECONFIG=" + c.Plane.KubeconfigPath()}, InTerminal: true, OutTerminal: true, ErrTerminal: true, Prompter: onePrompter(answer)}
	code = cmd.Main(c.Context(), env, append([]string{"operon", "olm"}, args...))
	return code, out.String()
}

type onePrompter string

func (p onePrompter) Confirm(string, bool) (bool, error) { return p == "yes", nil }
func (p onePrompter) Input(cmd.Question) (string, error) { return string(p), nil }

// installOperator makes what OLM makes of a subscription, and what users make beside it.
func (c *olmCluster) installOperator(t *testing.T) {
	t.Helper()
	c.defineMemcached(t)
	c.Apply(t, `
{apiVersion: cache.example.com/v1, kind: Memcached, metadata: {name: going, namespace: operators, finalizers: [example.com/wait]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: mine, namespace: operators}}
---
{apiVersion: operators.coreos.com/v1alpha1, kind: CatalogSource, metadata: {name: mine, namespace: olm}, spec: {sourceType: grpc, image: example.com/catalog:v1}}
---
{apiVersion: operators.coreos.com/v1alpha1, kind: Subscription, metadata: {name: memcached-operator, namespace: operators}, spec: {name: memcached-operator, source: mine, sourceNamespace: olm}}
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: memcached-operator.v0.0.1, namespace: operators}
spec:
  displayName: Memcached
  version: 0.0.1
  customresourcedefinitions:
    owned: [{name: memcacheds.cache.example.com, kind: Memcached, version: v1}]
  install:
    strategy: deployment
    spec:
      deployments:
      - name: memcached-operator
        spec:
          selector: {matchLabels: {app: memcached-operator}}
          template:
            metadata: {labels: {app: memcached-operator}}
            spec: {containers: [{name: manager, image: "example.com/memcached-operator:v0.0.1"}]}
`)
	c.Try(t, func() error {
		csv := c.Get(t, "operators.coreos.com/v1alpha1", "ClusterServiceVersion", "operators", "memcached-operator.v0.0.1")
		if !strings.Contains(fmt.Sprint(csv.Object["status"]), "Succeeded") {
			return fmt.Errorf("the operator is not installed: %v", csv.Object["status"])
		}
		return nil
	})
}

// defineMemcached creates a custom resource outside of OLM's namespaces, and its definition.
func (c *olmCluster) defineMemcached(t *testing.T) {
	t.Helper()
	c.Apply(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: memcacheds.cache.example.com}
spec:
  group: cache.example.com
  scope: Namespaced
  names: {plural: memcacheds, singular: memcached, kind: Memcached, listKind: MemcachedList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`)
	c.Apply(t, `{apiVersion: cache.example.com/v1, kind: Memcached, metadata: {name: staying, namespace: default}}`)
}

// removePart interrupts an uninstall when it has deleted the Deployments, and keeps a custom resource.
func (c *olmCluster) removePart(t *testing.T) {
	t.Helper()
	c.defineMemcached(t)
	const last = "deleted deployment olm/packageserver"
	if output, err := c.uninstallUntil(t, last, func(string) {}); !strings.Contains(output, last+"\n") {
		t.Fatalf("%s\n%v", output, err)
	}
}
