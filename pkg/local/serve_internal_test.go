package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/kube"
)

// TestCertDir checks that a run writes a certificate to Options.CertDir, removes it again, and leaves the certificate of another run alone.
func TestCertDir(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "certs")
	crt, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	webhooks, err := kube.Decode([]byte("{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: a}}"))
	if err != nil {
		t.Fatal(err)
	}
	newRunner := func() *runner { return &runner{o: Options{Webhooks: true, CertDir: dir, Manifests: webhooks}} }

	r := newRunner()
	if err := r.setWebhooks(); err != nil {
		t.Fatal(err)
	}
	other := newRunner()
	if err := other.setWebhooks(); err == nil || !strings.Contains(err.Error(), "tls.crt exists") {
		t.Errorf("a second run: %v", err)
	}
	if err := other.removeCertificate(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{crt, key} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if err := r.removeCertificate(); err != nil {
		t.Errorf("without the key: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
