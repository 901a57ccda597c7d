package bundle

import (
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// certManager tells whether an object is one of cert-manager.
func certManager(o manifest.Object) bool {
	return o.Group() == groupCerts || strings.HasSuffix(o.Group(), "."+groupCerts)
}

// replacedIssuance finds the objects of cert-manager that a bundle can do without, because others do their
// work: OLM makes the certificates of webhooks, the manager that of its metrics. These are the Certificates
// for Services of the input and for Secrets that are spared, and what issues nothing but those. Any other may
// be for what the operator does.
func (c *collection) replacedIssuance(spared map[string]bool) map[string]bool {
	var certificates, issuers []manifest.Object
	for _, o := range c.others {
		switch {
		case o.Group() != groupCerts:
		case o.Kind() == "Certificate":
			certificates = append(certificates, o)
		case strings.HasSuffix(o.Kind(), "Issuer"):
			issuers = append(issuers, o)
		}
	}
	replaced := map[string]bool{}
	for _, o := range certificates {
		if spared[textAt(o.Fields, "spec", "secretName")] || c.forServices(o) {
			replaced[o.String()] = true
		}
	}
	// An issuer may sign with a certificate of its own, which another issuer made.
	for before := -1; before != len(replaced); {
		before = len(replaced)
		for _, issuer := range issuers {
			issued := slices.DeleteFunc(slices.Clone(certificates), func(o manifest.Object) bool { return !issues(issuer, o) })
			if len(issued) == 0 || slices.ContainsFunc(issued, func(o manifest.Object) bool { return !replaced[o.String()] }) {
				continue
			}
			replaced[issuer.String()] = true
			signer := textAt(issuer.Fields, "spec", "ca", "secretName")
			for _, o := range certificates {
				if signer != "" && signer == textAt(o.Fields, "spec", "secretName") {
					replaced[o.String()] = true
				}
			}
		}
	}
	return replaced
}

// forServices tells whether a Certificate is for nothing but Services of the input.
func (c *collection) forServices(certificate manifest.Object) bool {
	spec, _ := asMap(certificate.Fields["spec"])
	names, _ := spec["dnsNames"].([]any)
	return len(names) > 0 && !slices.ContainsFunc(names, func(name any) bool {
		text, _ := name.(string)
		service, _, _ := strings.Cut(text, ".")
		return c.service(service) == nil
	})
}

// issues tells whether a Certificate names an issuer.
func issues(issuer, certificate manifest.Object) bool {
	kind := textAt(certificate.Fields, "spec", "issuerRef", "kind")
	if kind == "" {
		kind = "Issuer"
	}
	return kind == issuer.Kind() && textAt(certificate.Fields, "spec", "issuerRef", "name") == issuer.Name()
}
