package webhookcert

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	// Keys of the Secret, besides tls.crt and tls.key. caCertificates has all trusted CAs; the first one signs, with caKey.
	caCertificates = "ca.crt"
	caKey          = "ca.key"

	day = 24 * time.Hour

	caLifetime     = 10 * 365 * day
	serverLifetime = 365 * day
	// How long before they expire certificates are replaced.
	caRenewal     = 180 * day
	serverRenewal = 60 * day
	// A new CA does not sign for this long, so that it is trusted everywhere before it is needed.
	distribution = time.Hour
	// Certificates are valid from this long ago, for clients whose clocks are behind.
	clockSkew = time.Hour
)

// keyPairs are the certificates of a Secret with their keys.
type keyPairs struct {
	// data is the content of the Secret.
	data map[string][]byte
	// trusted has the CA certificates as PEM. The first one is ca, which signs.
	trusted []byte
	ca      tls.Certificate
	server  tls.Certificate
	// due is the time of the next renewal.
	due time.Time
}

// renew returns the certificates of a Secret at a time. Missing, invalid and old ones are replaced. names are the DNS names
// of the server.
func renew(data map[string][]byte, names []string, now time.Time) (*keyPairs, error) {
	k := &keyPairs{data: map[string][]byte{}}
	for key, value := range data {
		k.data[key] = value
	}
	var err error
	k.trusted = data[caCertificates]
	k.ca, err = tls.X509KeyPair(k.trusted, data[caKey])
	if err != nil || !k.ca.Leaf.IsCA || now.Before(k.ca.Leaf.NotBefore) || now.After(k.ca.Leaf.NotAfter.Add(-caRenewal)) {
		if err := k.newAuthority(names[0], now); err != nil {
			return nil, err
		}
	}
	k.data[caCertificates] = k.trusted

	k.server, err = tls.X509KeyPair(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey])
	valid := err == nil && k.verify(names, now.Add(distribution)) == nil
	renewal, signs := now, k.ca.Leaf.NotBefore.Add(clockSkew+distribution)
	if valid {
		if renewal = k.server.Leaf.NotAfter.Add(-serverRenewal); renewal.Before(signs) {
			renewal = signs
		}
	}
	if !renewal.After(now) {
		if err := k.newServer(names, now); err != nil {
			return nil, err
		}
		renewal = k.server.Leaf.NotAfter.Add(-serverRenewal)
	}
	k.due = renewal
	if due := k.ca.Leaf.NotAfter.Add(-caRenewal); due.Before(k.due) {
		k.due = due
	}
	return k, nil
}

// changed reports whether the Secret must be written.
func (k *keyPairs) changed(before map[string][]byte) bool {
	for key, value := range k.data {
		if !bytes.Equal(before[key], value) {
			return true
		}
	}
	return false
}

// verify returns an error if clients that trust the CAs reject the server's certificate at a time.
func (k *keyPairs) verify(names []string, at time.Time) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(k.trusted)
	for _, name := range names {
		if _, err := k.server.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: at}); err != nil {
			return err
		}
	}
	return nil
}

// newAuthority makes a CA, which is trusted in addition to the current ones that are valid.
func (k *keyPairs) newAuthority(name string, now time.Time) error {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: fmt.Sprintf("%s CA %d", name, now.Unix())},
		NotBefore:             now.Add(-clockSkew),
		NotAfter:              now.Add(caLifetime),
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	certificate, key, err := sign(template, nil)
	if err != nil {
		return err
	}
	k.trusted = append(certificate, validAuthorities(k.trusted, now)...)
	k.data[caKey] = key
	k.ca, err = tls.X509KeyPair(certificate, key)
	return err
}

// newServer makes a certificate of the server.
func (k *keyPairs) newServer(names []string, now time.Time) error {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: names[0]},
		DNSNames:              names,
		NotBefore:             now.Add(-clockSkew),
		NotAfter:              now.Add(serverLifetime),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	if end := k.ca.Leaf.NotAfter; end.Before(template.NotAfter) {
		template.NotAfter = end // it would not be valid for longer
	}
	certificate, key, err := sign(template, &k.ca)
	if err != nil {
		return err
	}
	k.data[corev1.TLSCertKey], k.data[corev1.TLSPrivateKeyKey] = certificate, key
	k.server, err = tls.X509KeyPair(certificate, key)
	return err
}

// sign returns a certificate and its new key as PEM. Without an authority, the certificate signs itself.
func sign(template *x509.Certificate, authority *tls.Certificate) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return nil, nil, err
	}
	parent, signer := template, any(private)
	if authority != nil {
		parent, signer = authority.Leaf, authority.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, private.Public(), signer)
	if err != nil {
		return nil, nil, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), nil
}

// validAuthorities returns the CA certificates in a PEM file that are valid at a time.
func validAuthorities(file []byte, now time.Time) []byte {
	var valid []byte
	for {
		block, rest := pem.Decode(file)
		if block == nil {
			return valid
		}
		file = rest
		c, err := x509.ParseCertificate(block.Bytes)
		if err == nil && c.IsCA && now.After(c.NotBefore) && now.Before(c.NotAfter) {
			valid = append(valid, pem.EncodeToMemory(block)...)
		}
	}
}
