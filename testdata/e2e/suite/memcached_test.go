package suite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/testdata/e2e/cluster"
)

const (
	project          = "testdata/memcached-operator"
	projectNamespace = "memcached-operator-system"
	projectImage     = "memcached-operator:v0.0.1"
	// memcachedSample has the name of its group, since other tests define the same kind in other groups.
	memcachedSample = "memcacheds.cache.example.com/memcached-sample"
)

// testMemcachedOperator deploys the golden project with its own make targets and its network policies, sees its manager reconcile with
// webhooks, and removes it: the cluster is as before. Then it does the same with its Helm chart, and with
// operon deploy.
func (b *bench) testMemcachedOperator(t *testing.T) {
	b.get(t, &b.products.manager)
	dir := b.copyProject(t)
	ctx, cancel := context.WithCancel(b.ctx)
	issuing := make(chan error, 1)
	go func() { issuing <- issueCertificates(ctx, b.client) }()
	t.Cleanup(func() {
		cancel()
		if err := <-issuing; err != nil {
			t.Errorf("issuing certificates: %v", err)
		}
	})
	before := b.objects(t, cluster.Scope{
		Namespaces: []string{projectNamespace, scrapers, strangers}, Groups: []string{"cache.example.com", "cert-manager.io"},
		Names: []string{"memcached-operator-", "memcached-sample"},
	})

	b.enablePolicies(t, dir)
	b.run(t, dir, "make", "deploy", "IMG="+b.image(projectImage))
	b.run(t, dir, "kubectl", "-n", projectNamespace, "wait", "--for=condition=Available", "--timeout=3m",
		"deployment/memcached-operator-controller-manager")
	b.differsFrom(t, before)
	b.progress.Done("memcached-operator deployed")
	if b.own != nil { // nobody knows what other clusters enforce
		b.testPolicies(t, dir)
	}
	b.testReconciling(t, dir)
	b.progress.Done("memcached-operator reconciles")

	b.run(t, dir, "make", "undeploy")
	b.backTo(t, before)
	b.progress.Done("memcached-operator undeployed; the cluster's objects are as before")

	b.testChart(t, dir)
	b.backTo(t, before)
	b.progress.Done("memcached-operator's chart removed; the cluster's objects are as before")

	b.testDeploy(t, dir)
	b.backTo(t, before)
	b.progress.Done("memcached-operator removed by operon undeploy; the cluster's objects are as before")

	b.testSelfManaged(t)
	b.backTo(t, before)
	b.progress.Done("memcached-operator with its own certificates removed; the cluster's objects are as before")

	if b.own == nil {
		return // its tests name an image of a registry that only a node of ours knows
	}
	b.testOwnTests(t, dir)
	b.backTo(t, before)
}

// testDeploy deploys the golden project with operon deploy, sees its manager reconcile, and removes it with its CRDs.
func (b *bench) testDeploy(t *testing.T, dir string) {
	deploy := []string{"deploy", "--image", b.image(projectImage), "--wait", "--timeout", "3m"}
	if out := b.run(t, dir, b.operon, deploy...); !strings.Contains(out, "is available") {
		t.Errorf("the manager isn't reported as available:\n%s", out)
	}
	b.testReconciling(t, dir)
	b.progress.Done("memcached-operator deployed by operon deploy")
	if out := b.run(t, dir, b.operon, deploy...); !strings.Contains(out, " 0 created, 0 configured") {
		t.Errorf("the second deployment changes something:\n%s", out)
	}
	b.run(t, dir, b.operon, "undeploy")
	if _, err := b.command(dir, "kubectl", "get", "crd", "memcacheds.cache.example.com"); err != nil {
		t.Error("undeploy has deleted the CRD")
	}
	b.run(t, dir, b.operon, "undeploy", "--delete-crds", "--yes")
}

// testOwnTests runs the project's own end-to-end tests. The cluster takes the place of Kind's, and its registry, which
// has the image, that of a container engine.
func (b *bench) testOwnTests(t *testing.T, dir string) {
	b.get(t, &b.products.ownTests)
	kind := filepath.Join(t.TempDir(), "kind")
	script := "#!/bin/sh\n[ \"$1 $2\" = 'get clusters' ] && echo memcached-operator-test-e2e\nexit 0\n"
	if err := os.WriteFile(kind, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	out := b.run(t, dir, "env", "CERT_MANAGER_INSTALL_SKIP=true", "make", "test-e2e", "KIND="+kind, "CONTAINER_TOOL=true")
	if !strings.Contains(out, "Ran 6 of 6 Specs") {
		t.Errorf("the project's own tests did not all run:\n%s", out)
	}
}

// testReconciling follows a Memcached from its creation to its deletion.
func (b *bench) testReconciling(t *testing.T, dir string) {
	const name = memcachedSample
	get := func(what, path string) string {
		return b.run(t, dir, "kubectl", "get", what, "-o", "jsonpath="+path)
	}
	// The webhook's certificate may be in the API server's configuration a moment before it is in the manager.
	b.eventually(t, func() error {
		_, err := b.command(dir, "kubectl", "apply", "-k", "config/samples")
		return err
	})
	if memory := get(name, "{.spec.memoryMegabytes}"); memory != "64" {
		t.Errorf("the webhook set memoryMegabytes to %q", memory)
	}
	b.run(t, dir, "kubectl", "wait", "--for=condition=Available", name, "--timeout=2m")
	b.run(t, dir, "kubectl", "scale", "--replicas=3", name)
	b.eventually(t, func() error {
		if ready := get("deployment/memcached-sample", "{.status.readyReplicas}"); ready != "3" {
			return fmt.Errorf("after scaling to 3, %q pods are ready", ready)
		}
		return nil
	})
	out, err := b.command(dir, "kubectl", "patch", name, "--type=merge", "-p", `{"spec":{"memoryMegabytes":1000}}`)
	if err == nil || !strings.Contains(out, "take more than the 1024 MB") {
		t.Errorf("the webhook let 3 pods with 1000 MB pass: %s", out)
	}
	b.run(t, dir, "kubectl", "delete", name)
	b.eventually(t, func() error {
		if left := get("deployments,pods", "{.items[*].metadata.name}"); left != "" {
			return fmt.Errorf("after the deletion of the Memcached, there is %s", left)
		}
		return nil
	})
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
