package proxy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// An identity is the certificate of a proxy and the authority that issued it, whose key is not kept.
type identity struct {
	certificate tls.Certificate
	// authority is in PEM format.
	authority []byte
}

// newIdentity returns a new identity for 127.0.0.1. It meets the requirements of Python's VERIFY_X509_STRICT: the authority is not
// the certificate of the server, and names its key usage.
func newIdentity() (*identity, error) {
	authority, err := template("operon-ansible-proxy")
	if err != nil {
		return nil, err
	}
	authority.IsCA, authority.BasicConstraintsValid, authority.MaxPathLenZero = true, true, true
	authority.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	authorityDER, err := x509.CreateCertificate(rand.Reader, authority, authority, authorityKey.Public(), authorityKey)
	if err != nil {
		return nil, err
	}
	if authority, err = x509.ParseCertificate(authorityDER); err != nil {
		return nil, err
	}
	server, err := template("127.0.0.1")
	if err != nil {
		return nil, err
	}
	server.KeyUsage = x509.KeyUsageDigitalSignature
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	server.IPAddresses, server.DNSNames = []net.IP{net.IPv4(127, 0, 0, 1)}, []string{"localhost"}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, server, authority, key.Public(), authorityKey)
	if err != nil {
		return nil, err
	}
	return &identity{
		certificate: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		authority:   pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authorityDER}),
	}, nil
}

// template returns a certificate without usage. Its validity does not depend on the clock, as it is trusted as long as the process
// runs.
func template(name string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2049, 1, 1, 0, 0, 0, 0, time.UTC),
	}, nil
}
