package project

import (
	"slices"

	"github.com/operon-sdk/operon/pkg/diag"
)

// Certificates is where the certificate of the webhook server comes from.
type Certificates string

const (
	// CertManager means that cert-manager issues the certificate and injects its CA, as in projects of both peers.
	CertManager Certificates = "cert-manager"
	// SelfManaged means that the manager issues the certificate and injects its CA.
	SelfManaged Certificates = "self-managed"
	// Provided means that the user creates the Secret with the certificate, and names its CA.
	Provided Certificates = "provided"
)

// Check returns a finding if a value of the flag --certificates is not known. An empty one is valid.
func (c Certificates) Check() diag.Findings {
	sources := CertificateSources()
	if c == "" || slices.Contains(sources, string(c)) {
		return nil
	}
	near, _ := diag.Nearest(string(c), sources)
	return diag.Findings{{Field: "--certificates", Value: string(c), Suggestion: near, Problem: "must be cert-manager, self-managed or provided"}}
}

// CertificateSources are all values of Certificates.
func CertificateSources() []string {
	return []string{string(CertManager), string(SelfManaged), string(Provided)}
}
