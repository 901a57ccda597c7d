package suite

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/kube"
)

const (
	selfManagedImage = "memcached-operator:self-managed"
	webhookSecret    = "/api/v1/namespaces/" + projectNamespace + "/secrets/memcached-operator-webhook-server-cert"
)

// pushSelfManaged pushes the manager of the golden project in dir, changed so that it issues its own certificates.
func (b *bench) pushSelfManaged(t *testing.T, dir string) {
	t.Helper()
	b.run(t, dir, b.operon, "edit", "--certificates", "self-managed")
	b.run(t, dir, "make", "image-build", "image-push", "IMG="+b.registry+"/"+selfManagedImage)
}

// testSelfManaged deploys the golden project with two managers that issue their own certificates, in a cluster without cert-manager. While
// requests run, the certificate is renewed, and then the CA: no request fails. Managers with an expired CA recover. Then it is removed.
func (b *bench) testSelfManaged(t *testing.T) {
	dir := copyTo(t, filepath.Join(t.TempDir(), "self-managed"), b.get(t, &b.products.selfManaged))
	b.run(t, dir, b.operon, "deploy", "--image", b.image(selfManagedImage), "--wait", "--timeout", "3m")
	manager := "deployment/memcached-operator-controller-manager"
	b.run(t, dir, "kubectl", "-n", projectNamespace, "scale", "--replicas=2", manager)
	b.run(t, dir, "kubectl", "-n", projectNamespace, "rollout", "status", "--timeout=3m", manager)
	b.eventually(t, func() error { return b.callWebhooks(b.ctx) })

	requests := b.keepCalling()
	// Each manager answers about half of the requests, so that both use what is new.
	more := func() {
		t.Helper()
		wanted := requests.made.Load() + 50
		b.eventually(t, func() error {
			if made := requests.made.Load(); made < wanted {
				return fmt.Errorf("%d requests, want %d", made, wanted)
			}
			return nil
		})
	}
	more()
	before := b.webhookCertificates(t)
	b.changeCertificates(t, map[string]any{"tls.crt": nil})
	b.eventually(t, func() error {
		now := b.webhookCertificates(t)
		if len(now["tls.crt"]) == 0 || bytes.Equal(now["tls.crt"], before["tls.crt"]) {
			return fmt.Errorf("the certificate isn't renewed")
		}
		return nil
	})
	more()

	// A CA that is about to expire, which signs nothing yet.
	before = b.webhookCertificates(t)
	authority, key, err := selfSigned([]string{"old"}, time.Now().Add(90*24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	b.changeCertificates(t, map[string]any{"ca.crt": bytes.Join([][]byte{authority, before["ca.crt"]}, nil), "ca.key": key})
	b.eventually(t, func() error {
		now := b.webhookCertificates(t)
		if n := bytes.Count(now["ca.crt"], []byte("BEGIN CERTIFICATE")); n != 3 || bytes.Equal(now["ca.key"], key) {
			return fmt.Errorf("with a CA that is about to expire, the Secret has %d CAs", n)
		}
		if !bytes.Equal(now["tls.crt"], before["tls.crt"]) {
			return fmt.Errorf("a new CA signs at once")
		}
		return nil
	})
	more()
	if failures := requests.end(); len(failures) > 0 {
		t.Errorf("of %d requests during renewals, %d failed: %v", requests.made.Load(), len(failures), failures)
	}

	expired, key, err := selfSigned([]string{"old"}, time.Now().Add(-time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	b.changeCertificates(t, map[string]any{"ca.crt": expired, "ca.key": key, "tls.crt": expired, "tls.key": key})
	b.eventually(t, func() error {
		if now := b.webhookCertificates(t); bytes.Equal(now["ca.crt"], expired) {
			return fmt.Errorf("the expired CA isn't replaced")
		}
		return b.callWebhooks(b.ctx)
	})
	b.progress.Done("memcached-operator renews its certificates")
	b.run(t, dir, b.operon, "undeploy", "--delete-crds", "--yes")
}

// callWebhooks creates a Memcached as a dry run, for which the API server calls the defaulting and the validating webhook.
func (b *bench) callWebhooks(ctx context.Context) error {
	memcached := map[string]any{
		"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
		"metadata": map[string]any{"name": "probe"}, "spec": map[string]any{"size": 1},
	}
	var created kube.Object
	path := "/apis/cache.example.com/v1alpha1/namespaces/default/memcacheds?dryRun=All"
	if err := b.client.Do(ctx, http.MethodPost, path, "", memcached, &created); err != nil {
		return err
	}
	if kube.ValueAt(created.Object, "spec", "memoryMegabytes") == nil {
		return fmt.Errorf("the webhook set no default: %v", created.Object)
	}
	return nil
}

// calls are requests that go on until end is called, which returns what failed.
type calls struct {
	made atomic.Int64
	end  func() (failures []error)
}

// keepCalling calls the webhooks again and again.
func (b *bench) keepCalling() *calls {
	ctx, cancel := context.WithCancel(b.ctx)
	done := make(chan struct{})
	var failures []error
	c := &calls{end: func() []error {
		cancel()
		<-done
		return failures
	}}
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := b.callWebhooks(ctx); err != nil && ctx.Err() == nil {
				failures = append(failures, err)
			}
			c.made.Add(1)
			time.Sleep(50 * time.Millisecond)
		}
	}()
	return c
}

// webhookCertificates returns the content of the Secret with the certificates of the manager.
func (b *bench) webhookCertificates(t *testing.T) map[string][]byte {
	t.Helper()
	var secret struct{ Data map[string][]byte }
	if err := b.client.Do(b.ctx, http.MethodGet, webhookSecret, "", nil, &secret); err != nil {
		t.Fatal(err)
	}
	return secret.Data
}

// changeCertificates changes keys of that Secret.
func (b *bench) changeCertificates(t *testing.T, data map[string]any) {
	t.Helper()
	patch := map[string]any{"data": data}
	if err := b.client.Do(b.ctx, http.MethodPatch, webhookSecret, "application/merge-patch+json", patch, nil); err != nil {
		t.Fatal(err)
	}
}
