package suite

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"time"

	"github.com/operon-sdk/operon/pkg/kube"
)

// issueCertificates does, until ctx ends, what cert-manager would for projects with webhooks: it makes the secret
// that each Certificate asks for, with a certificate that signs itself, and writes that into the webhook
// configurations that are annotated with the Certificate's name. It returns what went wrong in the last round: what
// fails while objects come and go is done in the next one.
func issueCertificates(ctx context.Context, client *kube.Client) error {
	var last error
	for {
		if err := issueOnce(ctx, client); ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return last
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// metadata is what is read of all objects.
type metadata struct {
	Name, Namespace   string
	Annotations       map[string]string
	DeletionTimestamp *string
}

func issueOnce(ctx context.Context, client *kube.Client) error {
	var list struct {
		Items []struct {
			Metadata metadata
			Spec     struct {
				SecretName string
				DNSNames   []string
			}
		}
	}
	if err := client.Do(ctx, http.MethodGet, "/apis/cert-manager.io/v1/certificates", "", nil, &list); err != nil {
		return err
	}
	issued := map[string][]byte{}
	for _, c := range list.Items {
		if c.Metadata.DeletionTimestamp != nil {
			continue
		}
		pem, err := secretOf(ctx, client, c.Metadata, c.Spec.SecretName, c.Spec.DNSNames)
		if err != nil {
			return err
		}
		issued[c.Metadata.Namespace+"/"+c.Metadata.Name] = pem
	}
	var err error
	for _, kind := range []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"} {
		err = errors.Join(err, injectInto(ctx, client, "/apis/admissionregistration.k8s.io/v1/"+kind, issued))
	}
	return err
}

// secretOf returns the certificate in the secret of a Certificate, which it makes if there is none.
func secretOf(ctx context.Context, client *kube.Client, of metadata, name string, dnsNames []string) ([]byte, error) {
	var secret struct{ Data map[string][]byte }
	path := "/api/v1/namespaces/" + of.Namespace + "/secrets"
	err := client.Do(ctx, http.MethodGet, path+"/"+name, "", nil, &secret)
	if !kube.IsNotFound(err) {
		return secret.Data["tls.crt"], err
	}
	certificate, key, err := selfSigned(dnsNames, time.Now().Add(24*time.Hour))
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	err = client.Do(ctx, http.MethodPost, path, "", map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": map[string]any{
			"name": name, "annotations": map[string]any{"cert-manager.io/certificate-name": of.Name},
		},
		"data": map[string][]byte{"ca.crt": certificate, "tls.crt": certificate, "tls.key": key},
	}, nil)
	return certificate, err
}

func selfSigned(dnsNames []string, until time.Time) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "e2e"}, DNSNames: dnsNames,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}), nil
}

// injectInto writes certificates into webhook configurations that name one and do not have it yet.
func injectInto(ctx context.Context, client *kube.Client, path string, issued map[string][]byte) error {
	var list struct {
		Items []struct {
			Metadata metadata
			Webhooks []struct{ ClientConfig struct{ CABundle []byte } }
		}
	}
	if err := client.Do(ctx, http.MethodGet, path, "", nil, &list); err != nil {
		return err
	}
	for _, configuration := range list.Items {
		certificate := issued[configuration.Metadata.Annotations["cert-manager.io/inject-ca-from"]]
		var patch []map[string]any
		for i, webhook := range configuration.Webhooks {
			if certificate != nil && !bytes.Equal(webhook.ClientConfig.CABundle, certificate) {
				patch = append(patch, map[string]any{
					"op": "add", "path": fmt.Sprintf("/webhooks/%d/clientConfig/caBundle", i), "value": certificate,
				})
			}
		}
		if patch == nil {
			continue
		}
		if err := client.Do(ctx, http.MethodPatch, path+"/"+configuration.Metadata.Name, "application/json-patch+json", patch, nil); err != nil {
			return err
		}
	}
	return nil
}
