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
	"github.com/operon-sdk/operon/pkg/diag"
)

// SetWebhooks sets Options.Webhooks for the next start.
func (s *Session) SetWebhooks(on bool) error {
	s.o.Webhooks = on
	if !on || s.ca != nil {
		return nil
	}
	ca, err := controlplane.WriteServingCertificate(s.certDir())
	if err != nil {
		return fmt.Errorf("creating a certificate for webhooks: %w", diag.Cause(err))
	}
	s.ca = ca
	return nil
}

// certDir is controller-runtime's default in a directory for temporary files, for managers without a flag for it.
func (s *Session) certDir() string {
	return filepath.Join(s.o.Workspace, "tmp", "k8s-webhook-server", "serving-certs")
}

func (s *Session) endpoint() *endpoint {
	if !s.o.Webhooks {
		return nil
	}
	return &endpoint{port: s.port, ca: s.ca}
}

// CheckPort returns an error if another program uses the port of the webhooks of the project at root.
func CheckPort(root string) error {
	pkg, err := MainPackage(root)
	if err != nil {
		return err
	}
	return checkPort(webhookPort(root, pkg))
}

// checkPort returns an error if another program uses a port, because of which the manager would exit.
func checkPort(port int) error {
	listener, err := net.Listen("tcp", ":"+strconv.Itoa(port))
	if err != nil {
		return fmt.Errorf("port %d of the manager's webhooks is in use by another program; stop that, or use --webhooks=false", port)
	}
	return listener.Close()
}

// waitServing waits until the webhook server accepts connections.
func (s *Session) waitServing(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, servingTimeout, fmt.Errorf("no webhook server on port %d within %s; if the manager has none, use --webhooks=false", s.port, servingTimeout))
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
