package bundle

import (
	"cmp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// isCertManager reports whether an object belongs to a cert-manager API.
func isCertManager(o manifest.Object) bool {
	return o.Group() == groupCerts || strings.HasSuffix(o.Group(), "."+groupCerts)
}

// replacedIssuance returns the cert-manager objects, by their string, that a bundle does not need: OLM issues the
// certificates of webhooks, and the manager mounts the one of its metrics. These are the Certificates for Services of the input and
// for optional Secrets, and the issuers used by them alone. Any other may serve the operator itself.
func (c *collection) replacedIssuance(optional map[string]bool) map[string]bool {
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
		if optional[manifest.TextAt(o.Fields, "spec", "secretName")] || c.isForServices(o) {
			replaced[o.String()] = true
		}
	}
	// An issuer may sign with a certificate that another issuer issued.
	for before := -1; before != len(replaced); {
		before = len(replaced)
		for _, issuer := range issuers {
			issued := slices.DeleteFunc(slices.Clone(certificates), func(o manifest.Object) bool { return !isIssuedBy(o, issuer) })
			if len(issued) == 0 || slices.ContainsFunc(issued, func(o manifest.Object) bool { return !replaced[o.String()] }) {
				continue
			}
			replaced[issuer.String()] = true
			signer := manifest.TextAt(issuer.Fields, "spec", "ca", "secretName")
			for _, o := range certificates {
				if signer != "" && signer == manifest.TextAt(o.Fields, "spec", "secretName") {
					replaced[o.String()] = true
				}
			}
		}
	}
	return replaced
}

// isForServices reports whether all DNS names of a Certificate belong to Services in the input.
func (c *collection) isForServices(certificate manifest.Object) bool {
	names, _ := manifest.MapAt(certificate.Fields, "spec")["dnsNames"].([]any)
	return len(names) > 0 && !slices.ContainsFunc(names, func(name any) bool {
		text, _ := name.(string)
		service, _, _ := strings.Cut(text, ".")
		return c.service(service) == nil
	})
}

func isIssuedBy(certificate, issuer manifest.Object) bool {
	kind := cmp.Or(manifest.TextAt(certificate.Fields, "spec", "issuerRef", "kind"), "Issuer")
	return kind == issuer.Kind() && manifest.TextAt(certificate.Fields, "spec", "issuerRef", "name") == issuer.Name()
}
