package local

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/kube"
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

// register points the cluster's webhooks at the manager.
func (s *Session) register(ctx context.Context) error {
	var objects []*kube.Object
	if s.o.Webhooks {
		var err error
		if objects, err = webhooks(s.o.Root, s.o.Name, s.endpoint()); err != nil {
			return err
		}
	}
	for _, o := range objects {
		if err := s.o.Cluster.Apply(ctx, o, ""); err != nil {
			return fmt.Errorf("registering webhooks: %w", explain(err))
		}
	}
	// A webhook that is gone from the project would still be called.
	for _, old := range s.registered {
		if !slices.ContainsFunc(objects, func(o *kube.Object) bool { return kube.Name(o) == kube.Name(old) }) {
			if err := s.o.Cluster.Delete(ctx, old, ""); err != nil {
				return fmt.Errorf("removing webhooks: %w", explain(err))
			}
		}
	}
	s.registered = objects
	return nil
}

// Unregister removes from a cluster that stays what leads to this machine: the webhooks, and the
// conversion of the CRDs.
func (s *Session) Unregister(ctx context.Context) error {
	if s.ca == nil || s.o.Cluster == nil {
		return nil
	}
	var errs []error
	for _, o := range s.registered {
		errs = append(errs, s.o.Cluster.Delete(ctx, o, ""))
	}
	s.registered = nil
	definitions, err := crds(s.o.Root, nil)
	for _, crd := range definitions {
		if dig(crd.Object, "spec", "conversion") != nil {
			errs = append(errs, s.o.Cluster.Apply(ctx, crd, ""))
		}
	}
	return errors.Join(append(errs, err)...)
}
