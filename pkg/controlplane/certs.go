package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// The files in a control plane's directory.
const (
	caFile         = "ca.crt"
	servingFile    = "server"           // kube-apiserver's and etcd's, for 127.0.0.1
	etcdClientFile = "etcd-client"      // kube-apiserver's for etcd and kubelets
	proxyFile      = "front-proxy"      // kube-apiserver's for aggregated API servers
	accountKeyFile = "service-accounts" // signs the tokens of service accounts
	tokenFile      = "tokens.csv"
	kubeconfigFile = "kubeconfig"
)

// frontProxyName is the common name of kube-apiserver for aggregated API servers.
const frontProxyName = "front-proxy-client"

// authority is a certificate authority for one run. Its key is never written to disk.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	// pem is the certificate.
	pem []byte
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template, err := certificate("operon-controlplane")
	if err != nil {
		return nil, err
	}
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{cert: cert, key: key, pem: pemBlock("CERTIFICATE", der)}, nil
}

// certificate returns the template of a certificate. The validity does not depend on the clock, as certificates are trusted for one
// run only.
func certificate(name string, organizations ...string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name, Organization: organizations},
		NotBefore:    time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:     time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
	}, nil
}

// issue writes a certificate and its key to name.crt and name.key in dir.
func (a *authority) issue(dir, name string, template *x509.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return err
	}
	if err := writeSecret(filepath.Join(dir, name+".crt"), pemBlock("CERTIFICATE", der)); err != nil {
		return err
	}
	return writeKey(filepath.Join(dir, name+".key"), key)
}

// credentials identify a client.
type credentials struct {
	caPEM []byte
	token string
}

// writeCredentials writes certificates, keys and the token of a run to dir. The certificate of the API server is also valid for
// address, unless it is nil.
func writeCredentials(dir string, address net.IP) (credentials, error) {
	ca, err := newAuthority()
	if err != nil {
		return credentials{}, err
	}
	if err := writeSecret(filepath.Join(dir, caFile), ca.pem); err != nil {
		return credentials{}, err
	}
	for _, c := range []struct {
		file, name string
		server     bool
	}{
		{servingFile, "127.0.0.1", true},
		{etcdClientFile, "kube-apiserver", false},
		{proxyFile, frontProxyName, false},
	} {
		template, err := certificate(c.name)
		if err != nil {
			return credentials{}, err
		}
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		if c.server {
			// etcd is also a client of its own gateway.
			template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
			template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
			if address != nil {
				template.IPAddresses = append(template.IPAddresses, address, net.ParseIP(serviceAddress))
			}
			template.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
		}
		if err := ca.issue(dir, c.file, template); err != nil {
			return credentials{}, err
		}
	}
	accounts, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return credentials{}, err
	}
	if err := writeKey(filepath.Join(dir, accountKeyFile+".key"), accounts); err != nil {
		return credentials{}, err
	}
	token, line := newToken()
	if err := writeSecret(filepath.Join(dir, tokenFile), line); err != nil {
		return credentials{}, err
	}
	return credentials{caPEM: ca.pem, token: token}, nil
}

// newToken returns a token of an administrator, and its line in a file of tokens.
func newToken() (token string, line []byte) {
	token = rand.Text()
	return token, fmt.Appendf(nil, "%s,operon,operon,\"system:masters\"\n", token)
}

func writeKey(file string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writeSecret(file, pemBlock("EC PRIVATE KEY", der))
}

func writeSecret(file string, data []byte) error { return os.WriteFile(file, data, 0o600) }

func pemBlock(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
