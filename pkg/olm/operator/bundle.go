package operator

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"fmt"

	"github.com/operon-sdk/operon/pkg/bundle/catalog"
	"github.com/operon-sdk/operon/pkg/kube"
)

// Channel is the channel of catalogs with one bundle, the same as in operator-sdk.
const Channel = "operator-sdk-run-bundle"

// A Bundle is a bundle with a catalog that contains it.
type Bundle struct {
	// Package and CSV are the names of its package and ClusterServiceVersion, Channel is its channel in the catalog.
	Package, CSV, Channel string
	// Image is pulled by the nodes; empty if the catalog contains the manifests.
	Image string
	// Catalog is a file-based catalog with the bundle, as YAML.
	Catalog []byte
	// Modes are the supported install modes. Converts reports whether it has conversion webhooks.
	Modes    []string
	Converts bool
}

// NewBundle returns a bundle with a catalog of one channel. image is the bundle's image, empty if the catalog must contain the
// manifests; replaces is the ClusterServiceVersion that the bundle replaces, if any.
func NewBundle(ctx context.Context, source *catalog.Source, image, channel, replaces string) (Bundle, error) {
	content, err := source.Alone(ctx, image, channel, replaces)
	return Bundle{
		Package: source.Package, CSV: source.Name, Channel: channel, Image: image, Catalog: content,
		Modes: source.InstallModes(), Converts: source.HasConversion(),
	}, err
}

// ReadCertPool returns the certificates of the system and those under the key cert.pem of a secret.
func ReadCertPool(ctx context.Context, client *kube.Client, namespace, name string) (*x509.CertPool, error) {
	secret, err := client.Get(ctx, kube.Named("v1", "Secret", namespace, name))
	if err != nil {
		return nil, err
	}
	if secret == nil {
		return nil, fmt.Errorf("secret %s/%s not found", namespace, name)
	}
	pem, err := base64.StdEncoding.DecodeString(kube.StringAt(secret.Object, "data", "cert.pem"))
	pool, _ := x509.SystemCertPool() // without one, only the secret's certificates are trusted
	if pool == nil {
		pool = x509.NewCertPool()
	}
	if err != nil || !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("the secret %s/%s has no certificates under the key cert.pem", namespace, name)
	}
	return pool, nil
}
