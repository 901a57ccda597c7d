package stage

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
)

// AccessOptions are the options of NewAccess. All but Record are required.
type AccessOptions struct {
	// Client is an administrator's, URL the API server's and CAData its certificate authority in PEM.
	Client *kube.Client
	URL    string
	CAData []byte
	// Permissions are those of the operator.
	Permissions *Permissions
	// Dir is an existing directory for credentials, which only this user should be able to read.
	Dir string
	// Record is called for each request of the operator, by several goroutines at a time. It may be nil.
	Record func(gateway.Record)
}

// An Access is an operator's way to an API server: a gateway that accepts only this operator, and forwards its requests in the
// name of its service account.
type Access struct {
	Gateway *gateway.Gateway
	// Kubeconfig is the path of the operator's kubeconfig.
	Kubeconfig string

	o AccessOptions
}

// NewAccess applies the permissions and starts the gateway. The caller must call Close.
func NewAccess(ctx context.Context, o AccessOptions) (*Access, error) {
	if err := o.Permissions.apply(ctx, o.Client, nil); err != nil {
		return nil, err
	}
	server, err := o.Permissions.token(ctx, o.Client)
	if err != nil {
		return nil, err
	}
	g, err := gateway.Start(gateway.Options{URL: o.URL, CAData: o.CAData, Token: server, Record: o.Record})
	if err != nil {
		return nil, err
	}
	a := &Access{Gateway: g, Kubeconfig: filepath.Join(o.Dir, "kubeconfig"), o: o}
	token, tokenFile := rand.Text(), filepath.Join(o.Dir, "token")
	g.SetTokens(token)
	if err := errors.Join(os.WriteFile(tokenFile, []byte(token), 0o600), os.WriteFile(a.Kubeconfig, g.Kubeconfig(tokenFile), 0o600)); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// Update replaces the permissions. The namespace and the service account must be the same.
func (a *Access) Update(ctx context.Context, p *Permissions) error {
	if p.Namespace != a.o.Permissions.Namespace || p.ServiceAccount != a.o.Permissions.ServiceAccount {
		return errors.New("the service account of the manager has changed; start again to use it")
	}
	if err := p.apply(ctx, a.o.Client, a.o.Permissions); err != nil {
		return err
	}
	a.o.Permissions = p
	return nil
}

// Permissions returns the permissions of the operator.
func (a *Access) Permissions() *Permissions { return a.o.Permissions }

// Close ends the gateway with all its connections.
func (a *Access) Close() { a.Gateway.Stop() }
