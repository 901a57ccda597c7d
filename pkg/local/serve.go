package local

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"github.com/operon-sdk/operon/pkg/controlplane"
)

// SetWebhooks sets Options.Webhooks for the next start.
func (s *Session) SetWebhooks(on bool) error {
	s.o.Webhooks = on
	if !on || s.ca != nil {
		return nil
	}
	ca, err := controlplane.WriteServingCertificate(s.certDir())
	if err != nil {
		return fmt.Errorf("making a certificate for webhooks: %w", pathless(err))
	}
	s.ca = ca
	return nil
}

// certDir is controller-runtime's default below a folder for temporary files, so that managers
// without a flag for it find the certificate too.
func (s *Session) certDir() string {
	return filepath.Join(s.o.Workspace, "tmp", "k8s-webhook-server", "serving-certs")
}

func (s *Session) endpoint() *endpoint {
	if !s.o.Webhooks {
		return nil
	}
	return &endpoint{port: s.port, ca: s.ca}
}

// CheckPort refuses a port for webhooks that another program has. It reads the port off the sources of
// the manager at root.
func CheckPort(root string) error {
	pkg, err := MainPackage(root)
	if err != nil {
		return err
	}
	return portFree(webhookPort(root, pkg))
}

// portFree refuses a port that another program has: the manager would end because of it.
func portFree(port int) error {
	listener, err := net.Listen("tcp", ":"+strconv.Itoa(port))
	if err != nil {
		return fmt.Errorf("port %d, where the manager serves its webhooks, is in use by another program; stop that, or use --webhooks=false", port)
	}
	return listener.Close()
}

// waitServing waits until the webhook server takes connections.
func (s *Session) waitServing(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, servingTimeout, fmt.Errorf("the manager serves no webhooks on port %d within %s; if it has none, use --webhooks=false", s.port, servingTimeout))
	defer cancel()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(s.ca)
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.program.Done():
			return s.Crash()
		case <-ticker.C:
		}
		connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)))
		if err == nil {
			return connection.Close()
		}
	}
}
