package operatorchart

import (
	"slices"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// isIssuerVariable reports whether a variable lets the manager issue the certificate of its webhook server.
func isIssuerVariable(m mapping) bool {
	return slices.Contains([]any{manifest.IssuerSecretVar, manifest.IssuerServiceVar, manifest.IssuerNamespaceVar}, m.at("name"))
}

// findIssuer finds the Secrets in which the manager keeps certificates that it issues for the webhooks of the chart, and its roles for that.
func (p *parts) findIssuer() {
	p.issues, p.issuers = map[string]bool{}, map[string]bool{}
	for _, container := range containers(p.manager) {
		for _, variable := range listAt(container, "env") {
			if textAt(variable, "name") == manifest.IssuerSecretVar && len(p.webhooks) > 0 {
				p.issues[textAt(variable, "value")] = true
			}
		}
	}
	if len(p.issues) == 0 {
		return
	}
	for _, o := range p.options.Objects {
		if o.Kind() == "Role" && p.isForIssued(o) || o.Kind() == "ClusterRole" && isIssuerRole(o) {
			p.issuers[o.Name()] = true
		}
	}
}

// isIssuerRole reports whether a cluster role lets the manager write its CA to webhooks and CRDs. These are no objects of a namespace.
func isIssuerRole(o manifest.Object) bool {
	return onlyResources(o, "mutatingwebhookconfigurations", "validatingwebhookconfigurations", "customresourcedefinitions")
}

// isForIssued reports whether a role is for the Secrets with issued certificates only.
func (p *parts) isForIssued(o manifest.Object) bool {
	rules := listAt(o.Fields, "rules")
	return len(rules) > 0 && !slices.ContainsFunc(rules, func(rule any) bool {
		names := listAt(rule, "resourceNames")
		return len(names) == 0 || slices.ContainsFunc(names, func(name any) bool {
			text, _ := name.(string)
			return !p.issues[text]
		})
	})
}
