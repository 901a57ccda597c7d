package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const ledgerNamespace = "ledger"

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

// ledger is an operator with a chart, which is followed from the installation of a release to its removal.
func (b *bench) ledger() runtimeOperator {
	return runtimeOperator{
		name: "ledger-operator", namespace: ledgerNamespace, plural: "ledgers",
		scaffold: b.newHelmOperator, create: b.createLedger, follow: b.testRelease, remove: b.deleteLedger,
		change: changeChart, isChanged: b.isChartChanged,
	}
}

// newHelmOperator scaffolds an operator from a chart.
func (b *bench) newHelmOperator(t *testing.T, dir string) {
	t.Helper()
	b.run(t, dir, b.operon, "init", "--plugins", "helm", "--domain", "example.com", "--group", "storage", "--version", "v1alpha1", "--kind", "Ledger",
		"--helm-chart", filepath.Join(b.root, "testdata", "charts", "ledger"))
}

// ledgerField returns a field of the custom resource.
func (b *bench) ledgerField(t *testing.T, dir, path string) string {
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
	if deployed := b.ledgerField(t, dir, `{.status.conditions[?(@.type=="Deployed")].status}`); deployed != "True" {
		t.Errorf("the condition Deployed is %q", deployed)
	}
	first, pod := password(), kubectl("get", "pod/accounts-ledger-0", "-o", "jsonpath={.metadata.uid}")
	if first == "" {
		t.Error("the chart generated no password")
	}
	if status := b.ledgerField(t, dir, "{.status}"); strings.Contains(status, first) {
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

// changeChart changes a default of the chart.
func changeChart(t *testing.T, dir string) {
	t.Helper()
	chart := filepath.Join(dir, "helm-charts", "ledger")
	replaceIn(t, filepath.Join(chart, "Chart.yaml"), "version: 0.3.0", "version: 0.4.0")
	replaceIn(t, filepath.Join(chart, "values.yaml"), "maxConnections: 100", "maxConnections: 200")
}

// isChartChanged checks that the changed default is applied.
func (b *bench) isChartChanged(dir string) error {
	conf, err := b.command(dir, "kubectl", "-n", ledgerNamespace, "get", "configmap/accounts-ledger", "-o", "jsonpath={.data.ledger\\.conf}")
	if err == nil && !strings.Contains(conf, "max_connections = 200") {
		err = fmt.Errorf("the default of the new chart is not applied:\n%s", conf)
	}
	if err == nil {
		_, err = b.command(dir, "kubectl", "-n", ledgerNamespace, "wait", "--for=condition=Ready", "--timeout=3m", "ledger/accounts")
	}
	return err
}
