package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	ledgerImage     = "ledger-operator:v0.0.1"
	ledgerNextImage = "ledger-operator:v0.0.2"
	ledgerBundle    = "ledger-operator-bundle:v0.0.1"
	ledgerNext      = "ledger-operator-bundle:v0.0.2"
	ledgerNamespace = "ledger"
)

// ledgerObject is a custom resource. Its image runs with the arguments of no database.
const ledgerObject = `apiVersion: storage.example.com/v1alpha1
kind: Ledger
metadata:
  name: accounts
  namespace: ledger
spec:
  image:
    repository: docker.io/library/memcached
    tag: 1.6.39-alpine
  persistence:
    enabled: false
`

// testHelmOperator scaffolds an operator from a chart, deploys it with its own make targets, follows a release from its
// installation to its removal, and removes the operator: the objects of the cluster are as before.
func (b *bench) testHelmOperator(t *testing.T) {
	dir := b.newHelmOperator(t)
	before := b.objects(t)
	b.run(t, dir, "make", "deploy", "IMG="+b.image(ledgerImage))
	b.run(t, dir, "kubectl", "-n", "ledger-operator-system", "wait", "--for=condition=Available", "--timeout=3m",
		"deployment/ledger-operator-controller-manager")
	b.progress.Done("ledger-operator deployed")
	b.run(t, dir, "kubectl", "create", "namespace", ledgerNamespace)
	b.createLedger(t, dir)
	b.testRelease(t, dir)
	b.deleteLedger(t, dir)
	b.run(t, dir, "kubectl", "delete", "namespace", ledgerNamespace)
	b.run(t, dir, "make", "undeploy")
	b.backTo(t, before)
	b.progress.Done("ledger-operator undeployed; the objects of the cluster are as before")
}

// newHelmOperator scaffolds an operator from a chart, and pushes its image.
func (b *bench) newHelmOperator(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ledger-operator")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b.run(t, dir, b.operon, "init", "--plugins", "helm", "--domain", "example.com", "--group", "storage", "--version", "v1alpha1", "--kind", "Ledger",
		"--helm-chart", filepath.Join(b.root, "testdata", "charts", "ledger"))
	b.run(t, dir, "make", "image-build", "image-push", "IMG="+b.registry+"/"+ledgerImage)
	b.progress.Done("ledger-operator scaffolded from a chart, its image built and pushed")
	return dir
}

// ledger returns a field of the custom resource.
func (b *bench) ledger(t *testing.T, dir, path string) string {
	t.Helper()
	return b.run(t, dir, "kubectl", "-n", ledgerNamespace, "get", "ledger/accounts", "-o", "jsonpath="+path)
}

// createLedger creates the custom resource and waits until its release is ready.
func (b *bench) createLedger(t *testing.T, dir string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ledger.yaml")
	if err := os.WriteFile(file, []byte(ledgerObject), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(t, dir, "kubectl", "apply", "-f", file)
	b.run(t, dir, "kubectl", "-n", ledgerNamespace, "wait", "--for=condition=Ready", "--timeout=3m", "ledger/accounts")
}

// deleteLedger deletes the custom resource, and checks that its release leaves nothing.
func (b *bench) deleteLedger(t *testing.T, dir string) {
	t.Helper()
	b.run(t, dir, "kubectl", "-n", ledgerNamespace, "delete", "ledger/accounts", "--timeout=2m")
	b.eventually(t, func() error {
		left := b.run(t, dir, "kubectl", "-n", ledgerNamespace, "get", "statefulsets,pods,services,secrets,configmaps", "-o", "name",
			"--selector", "helm.sdk.operatorframework.io/chart")
		left += b.run(t, dir, "kubectl", "-n", ledgerNamespace, "get", "secrets", "-o", "name", "--selector", "owner=helm")
		if left != "" {
			return fmt.Errorf("after the deletion of the Ledger:\n%s", left)
		}
		return nil
	})
	b.progress.Done("the release is removed")
}

// testRelease changes values and objects of a release.
func (b *bench) testRelease(t *testing.T, dir string) {
	kubectl := func(args ...string) string {
		return b.run(t, dir, "kubectl", append([]string{"-n", ledgerNamespace}, args...)...)
	}
	password := func() string {
		return kubectl("get", "secret/accounts-ledger", "-o", "jsonpath={.data.password}")
	}
	if deployed := b.ledger(t, dir, `{.status.conditions[?(@.type=="Deployed")].status}`); deployed != "True" {
		t.Errorf("the condition Deployed is %q", deployed)
	}
	first, pod := password(), kubectl("get", "pod/accounts-ledger-0", "-o", "jsonpath={.metadata.uid}")
	if first == "" {
		t.Error("the chart generated no password")
	}
	if status := b.ledger(t, dir, "{.status}"); strings.Contains(status, first) {
		t.Errorf("the status contains the password:\n%s", status)
	}

	kubectl("patch", "ledger/accounts", "--type=merge", "-p", `{"spec":{"replicaCount":2}}`)
	b.eventually(t, func() error {
		if ready := kubectl("get", "statefulset/accounts-ledger", "-o", "jsonpath={.status.readyReplicas}"); ready != "2" {
			return fmt.Errorf("after a change of replicaCount to 2, %q pods are ready", ready)
		}
		return nil
	})
	if now := password(); now != first {
		t.Error("the change of a value replaced the password")
	}
	if now := kubectl("get", "pod/accounts-ledger-0", "-o", "jsonpath={.metadata.uid}"); now != pod {
		t.Error("the change of replicaCount restarted a pod")
	}

	kubectl("scale", "--replicas=1", "statefulset/accounts-ledger")
	kubectl("delete", "configmap/accounts-ledger")
	b.eventually(t, func() error {
		out, err := b.command(dir, "kubectl", "-n", ledgerNamespace, "get", "configmap/accounts-ledger", "statefulset/accounts-ledger", "-o", "jsonpath={.items[*].spec.replicas}")
		if err == nil && strings.TrimSpace(out) != "2" {
			err = fmt.Errorf("the StatefulSet has %q replicas instead of 2", out)
		}
		return err
	})
	if revisions := kubectl("get", "secrets", "--selector", "owner=helm,name=accounts", "-o", `jsonpath={.items[*].metadata.labels.version}`); revisions != "1 2" {
		t.Errorf("after an installation and one change, the release has the revisions %q", revisions)
	}
	b.progress.Done("the release follows its values, and is repaired")
}

// testHelmBundle installs the Helm operator with OLM from its bundle, for all namespaces and for its own, upgrades it to a bundle with a
// newer chart, and removes it.
func (b *bench) testHelmBundle(t *testing.T) {
	dir := b.newHelmOperator(t)
	b.pushHelmBundle(t, dir, "0.0.1", ledgerImage, ledgerBundle)
	before := b.objects(t)
	flags := []string{"--namespace", ledgerNamespace, "--timeout", "10m", "--registry-mirror", "example.com=" + b.registry}
	cleanup := func() {
		b.runOperon(t, 0, "cleanup", "ledger-operator", "--namespace", ledgerNamespace, "--timeout", "10m")
		b.run(t, dir, "kubectl", "delete", "namespace", ledgerNamespace)
		b.backTo(t, before)
	}

	b.run(t, dir, "kubectl", "create", "namespace", ledgerNamespace)
	b.runOperon(t, 0, append([]string{"run", "bundle", b.image(ledgerBundle), "--install-mode", "OwnNamespace"}, flags...)...)
	b.createLedger(t, dir)
	b.deleteLedger(t, dir)
	cleanup()
	b.progress.Done("ledger-operator runs under OLM for its own namespace")

	b.run(t, dir, "kubectl", "create", "namespace", ledgerNamespace)
	b.runOperon(t, 0, append([]string{"run", "bundle", b.image(ledgerBundle), "--install-mode", "AllNamespaces"}, flags...)...)
	b.createLedger(t, dir)
	chart := filepath.Join(dir, "helm-charts", "ledger")
	for file, change := range map[string][2]string{
		"Chart.yaml": {"version: 0.3.0", "version: 0.4.0"}, "values.yaml": {"maxConnections: 100", "maxConnections: 200"},
	} {
		name := filepath.Join(chart, file)
		text := string(read(t, name))
		if !strings.Contains(text, change[0]) {
			t.Fatalf("%s does not contain %q", file, change[0])
		}
		if err := os.WriteFile(name, []byte(strings.Replace(text, change[0], change[1], 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.run(t, dir, b.operon, "generate")
	b.run(t, dir, "make", "image-build", "image-push", "IMG="+b.registry+"/"+ledgerNextImage)
	b.pushHelmBundle(t, dir, "0.0.2", ledgerNextImage, ledgerNext)
	b.runOperon(t, 0, append([]string{"run", "bundle-upgrade", b.image(ledgerNext)}, flags...)...)
	b.eventually(t, func() error {
		conf, err := b.command(dir, "kubectl", "-n", ledgerNamespace, "get", "configmap/accounts-ledger", "-o", "jsonpath={.data.ledger\\.conf}")
		if err == nil && !strings.Contains(conf, "max_connections = 200") {
			err = fmt.Errorf("the default of the new chart is not applied:\n%s", conf)
		}
		return err
	})
	b.run(t, dir, "kubectl", "-n", ledgerNamespace, "wait", "--for=condition=Ready", "--timeout=3m", "ledger/accounts")
	b.deleteLedger(t, dir)
	cleanup()
	b.progress.Done("ledger-operator is upgraded by OLM to a newer chart")
}

// pushHelmBundle generates the bundle of a version and pushes its image.
func (b *bench) pushHelmBundle(t *testing.T, dir, version, image, bundle string) {
	t.Helper()
	b.run(t, dir, b.operon, "bundle", "--version", version, "--image", b.image(image))
	b.run(t, dir, b.operon, "image", "bundle", "--image", b.registry+"/"+bundle, "--push", "--insecure-registry", b.registry)
}
