package suite

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

// certificates are tests that bundles are read from registries whose certificates are signed by an authority that a secret
// names, and that a certificate which has expired is told.
func (b *bench) certificates() []part {
	return []part{{"authority", func(t *testing.T) {
		if b.own == nil {
			t.Skip("the nodes of the cluster of KUBECONFIG may not reach the registry of this machine")
		}
		b.testWay(t, way{name: "authority", source: func(t *testing.T, dir string) []string {
			ref, certificate := b.tlsRegistry(t, dir, "authority", time.Now().Add(time.Hour))
			b.run(t, dir, "kubectl", "create", "secret", "generic", "authority", "--namespace", "authority", "--from-file=cert.pem="+certificate)
			return []string{"run", "bundle", ref, "--ca-secret-name", "authority"}
		}})
	}}, {"expired", func(t *testing.T) {
		b.run(t, b.root, "kubectl", "create", "namespace", "expired")
		dir := b.variant(t, "expired", nil)
		ref, certificate := b.tlsRegistry(t, dir, "expired", time.Now().Add(-time.Minute))
		b.run(t, dir, "kubectl", "create", "secret", "generic", "authority", "--namespace", "expired", "--from-file=cert.pem="+certificate)
		b.says(t, b.runOperon(t, 1, "run", "bundle", ref, "--ca-secret-name", "authority", "--namespace", "expired"), "certificate has expired")
		b.run(t, b.root, "kubectl", "delete", "namespace", "expired")
	}}}
}

// tlsRegistry serves the image of a variant of the bundle with a certificate that is valid until a time. It returns the image's name
// and the certificate's file. The nodes have the image from their own registry.
func (b *bench) tlsRegistry(t *testing.T, dir, name string, until time.Time) (ref, certificate string) {
	t.Helper()
	pem, key, err := selfSigned([]string{"localhost"}, until)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(pem, key)
	if err != nil {
		t.Fatal(err)
	}
	quiet := log.New(io.Discard, "", 0)
	handler := registry.New(registry.Logger(quiet))
	plain, server := httptest.NewServer(handler), httptest.NewUnstartedServer(handler)
	t.Cleanup(plain.Close)
	t.Cleanup(server.Close)
	server.Config.ErrorLog, server.TLS = quiet, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	for _, host := range []string{plain.Listener.Addr().String(), b.registry} {
		b.runOperon(t, 0, "-C", dir, "image", "bundle", "--image", host+"/"+name+":v1", "--push")
	}
	certificate = filepath.Join(t.TempDir(), "cert.pem")
	if err := os.WriteFile(certificate, pem, 0o600); err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return "localhost:" + port + "/" + name + ":v1", certificate
}
