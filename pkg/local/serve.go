package local

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/diag"
)

// setWebhooks sets whether the next manager serves webhooks, and on which port, and creates their certificate.
func (r *runner) setWebhooks() (err error) {
	if r.serving = r.webhooks(); !r.serving {
		return nil
	}
	if r.port, err = r.source().webhookPort(); err != nil || r.ca != nil {
		return err
	}
	if err := CheckCertDir(r.o.CertDir); err != nil {
		return err
	}
	ca, err := controlplane.WriteServingCertificate(r.certDir())
	if err != nil {
		return fmt.Errorf("creating a certificate for webhooks: %w", diag.Cause(err))
	}
	r.ca = ca
	return nil
}

// certFiles returns the files of the certificate in Options.CertDir, which may be empty: those elsewhere are removed with the workspace.
func certFiles(dir string) []string {
	if dir == "" {
		return nil
	}
	return []string{filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")}
}

// CheckCertDir returns an error if the files of a certificate exist in Options.CertDir already.
func CheckCertDir(dir string) error {
	for _, name := range certFiles(dir) {
		if _, err := os.Lstat(name); err == nil {
			return fmt.Errorf("%s exists, and isn't overwritten: delete it if a run that was killed has left it, or name another directory", filepath.Base(name))
		}
	}
	return nil
}

// removeCertificate removes the files that setWebhooks has written to Options.CertDir.
func (r *runner) removeCertificate() error {
	if r.ca == nil {
		return nil
	}
	var errs []error
	for _, name := range certFiles(r.o.CertDir) {
		if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// certDir is Options.CertDir or controller-runtime's default in a directory for temporary files, for managers without a flag for it.
func (r *runner) certDir() string {
	if r.o.CertDir != "" {
		return r.o.CertDir
	}
	return filepath.Join(r.tempDir(), "k8s-webhook-server", "serving-certs")
}

func (r *runner) endpoint() *endpoint {
	if !r.serving {
		return nil
	}
	return &endpoint{port: r.port, ca: r.ca}
}

// checkPort returns an error if another program uses a port, because of which the manager would exit.
func (r *runner) checkPort(port int) error {
	listener, err := net.Listen("tcp", ":"+strconv.Itoa(port))
	if err != nil {
		return fmt.Errorf("port %d of the manager's webhooks is in use by another program, such as a second run; stop that%s", port, r.orWithoutWebhooks())
	}
	return listener.Close()
}

// orWithoutWebhooks is the end of a sentence on what to do if the manager can't serve webhooks. Only 'run local' has the flag.
func (r *runner) orWithoutWebhooks() string {
	if r.o.Drive != nil {
		return ""
	}
	return ", or use --webhooks=false"
}

// notServing is the error about a manager whose webhook server doesn't accept connections with the certificate.
func (r *runner) notServing() error {
	remedy := r.orWithoutWebhooks()
	if r.isGiven() {
		remedy = "; if it makes its certificate itself, or no flag names the directory, leave the configurations of its webhooks out of the manifests"
	}
	return fmt.Errorf("no webhook server on port %d with the given certificate within %s: the manager must serve the webhooks of %s%s",
		r.port, servingTimeout, r.source().name(), remedy)
}

// waitServing waits until the webhook server accepts connections.
func (r *runner) waitServing(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, servingTimeout, r.notServing())
	defer cancel()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(r.ca)
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, false, func(ctx context.Context) (bool, error) {
		select {
		case <-r.program.Done():
			return false, r.crash()
		default:
		}
		connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(r.port)))
		if err != nil {
			return false, nil
		}
		return true, connection.Close()
	})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
