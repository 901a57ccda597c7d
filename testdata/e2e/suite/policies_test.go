package suite

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The namespaces of pods that ask for metrics: labeled, and not.
const (
	scrapers  = "e2e-scrapers"
	strangers = "e2e-strangers"
)

// enablePolicies enables the network policies of a copy of the golden project.
func (b *bench) enablePolicies(t *testing.T, dir string) {
	t.Helper()
	replaceOnce(t, filepath.Join(dir, "config/default/kustomization.yaml"), "#- ../network-policy", "- ../network-policy")
}

// testPolicies checks that the policies of the deployed project let the API server call its webhooks and admit clients of metrics from
// labeled namespaces only. That the node enforces policies shows in one that admits no API server: it keeps webhooks from being called.
func (b *bench) testPolicies(t *testing.T, dir string) {
	const policy = "config/network-policy/allow-webhook-traffic.yaml"
	scaffolded := read(t, filepath.Join(dir, policy))
	replaceOnce(t, filepath.Join(dir, policy), "  - ports:\n", "  - from: [{namespaceSelector: {matchLabels: {webhook: enabled}}}]\n    ports:\n")
	deploy := func() { b.run(t, dir, "make", "deploy", "IMG="+b.image(projectImage)) }
	deploy()
	b.eventually(t, func() error {
		out, err := b.command(dir, "kubectl", "create", "--dry-run=server", "-k", "config/samples")
		if err == nil || !strings.Contains(out, "while dialing") {
			return fmt.Errorf("a policy that admits labeled namespaces only does not keep the API server from webhooks: %v: %s", err, out)
		}
		return nil
	})
	if err := os.WriteFile(filepath.Join(dir, policy), scaffolded, 0o644); err != nil {
		t.Fatal(err)
	}
	deploy()
	b.eventually(t, func() error {
		_, err := b.command(dir, "kubectl", "create", "--dry-run=server", "-k", "config/samples")
		return err
	})
	b.progress.Done("network policies admit the API server")

	b.apply(t, "objects/scrapers.yaml")
	b.run(t, dir, "kubectl", "-n", scrapers, "wait", "--for=condition=Complete", "job/scrape", "--timeout=3m")
	b.apply(t, "objects/strangers.yaml")
	b.run(t, dir, "kubectl", "-n", strangers, "wait", "--for=condition=Failed", "job/scrape", "--timeout=3m")
	b.run(t, dir, "kubectl", "delete", "namespace", scrapers, strangers)
	b.progress.Done("network policies restrict metrics to labeled namespaces")
}

// replaceOnce replaces a text that a file must have.
func replaceOnce(t *testing.T, file, old, text string) {
	t.Helper()
	data := read(t, file)
	if !bytes.Contains(data, []byte(old)) {
		t.Fatalf("%s has no %q", file, old)
	}
	if err := os.WriteFile(file, bytes.Replace(data, []byte(old), []byte(text), 1), 0o644); err != nil {
		t.Fatal(err)
	}
}
