package controlplane

import (
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestAddress checks that a control plane for real nodes listens where pods reach it, and has a certificate for it.
func TestAddress(t *testing.T) {
	t.Parallel()
	address := net.IPv4(10, 1, 2, 3)
	args := apiServerArgs("dir", "https://127.0.0.1:1", 2, StartOptions{Address: address})
	for _, want := range []string{"--bind-address=10.1.2.3", "--advertise-address=10.1.2.3", "--enable-aggregator-routing=true"} {
		if !slices.Contains(args, want) {
			t.Errorf("%s is not among the API server's arguments", want)
		}
	}
	if slices.Contains(args, "--endpoint-reconciler-type=none") {
		t.Error("the kubernetes service leads nowhere")
	}
	dir := t.TempDir()
	if _, err := writeCredentials(dir, address); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, servingFile+".crt"))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(data)
	if block == nil {
		t.Fatal("the certificate is not PEM")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"10.1.2.3", "10.96.0.1", "127.0.0.1", "kubernetes.default.svc"} {
		if err := certificate.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
}
