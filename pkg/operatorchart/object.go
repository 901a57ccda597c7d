package operatorchart

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/manifest"
)

const (
	managedBy  = "app.kubernetes.io/managed-by"
	injectCA   = "cert-manager.io/inject-ca-from"
	keepPolicy = "helm.sh/resource-policy"
)

// object returns the tree of an object whose names and labels follow the release.
func (p *parts) object(o manifest.Object) mapping {
	fields := tree(o.Fields, "", p.value).(mapping)
	if o.Namespace() == "" && p.namespace != "" && isNamespaced(o.Kind()) {
		fields = fields.set(expression("{{ .Release.Namespace }}"), "metadata", "namespace")
	}
	walk(fields, p.labeled)
	if labels := fields.mappingAt("metadata", "labels"); labels != nil {
		fields = fields.set(p.ownLabels(labels), "metadata", "labels")
	}
	if p.settings.HasCertificates {
		fields.mappingAt("metadata", "annotations").setGiven(injectCA, certManager)
	}
	return fields
}

// isNamespaced reports whether objects of a kind that operators have are in a namespace.
func isNamespaced(kind string) bool {
	switch kind {
	case "Deployment", "Service", "ServiceAccount", "Role", "RoleBinding", "ConfigMap", "Secret", "NetworkPolicy", "ServiceMonitor", "Certificate", "Issuer":
		return true
	}
	return false
}

// labeled adds the label of the release to labels and selectors of the operator, if its name isn't the kustomization's: releases in the same
// namespace must not select each other's pods.
func (p *parts) labeled(m mapping) mapping {
	if p.prefix == "" || m.index("control-plane") < 0 && m.index("app.kubernetes.io/name") < 0 {
		return m
	}
	for _, key := range []string{"control-plane", "app.kubernetes.io/name"} {
		if value := m.at(key); value != nil {
			if _, isName := value.(string); !isName {
				return m // a schema or a selector of another form
			}
		}
	}
	return append(m, entry{lines: p.block("instance")})
}

// ownLabels returns the labels of an object of a chart.
func (p *parts) ownLabels(m mapping) mapping {
	if i := m.index(managedBy); i >= 0 {
		m[i].value = expression("{{ .Release.Service }}")
		return append(m, entry{lines: p.block("chartLabel")})
	}
	return m
}

// block returns a block of templates/chart for an indentation.
func (p *parts) block(name string) func(int) string {
	return func(indent int) string { return chartBlock(name, indent, p.chart) }
}

// crd returns the template of a CRD. Only its conversion refers to other objects.
func (p *parts) crd(o manifest.Object) mapping {
	fields := tree(o.Fields, "", plain).(mapping)
	if annotations := manifest.MapAt(o.Fields, "metadata", "annotations"); annotations != nil {
		fields = fields.set(tree(annotations, "", p.value), "metadata", "annotations")
	}
	if conversion := manifest.MapAt(o.Fields, "spec", "conversion"); conversion != nil {
		tree := p.certifiedConfig(tree(conversion, "", p.value).(mapping), "webhook", "clientConfig")
		fields = fields.set(tree, "spec", "conversion")
		if len(p.webhooks) > 0 {
			fields.mappingAt("spec").setGiven("conversion", webhooksOn)
		}
	}
	annotations := fields.mappingAt("metadata", "annotations")
	if p.settings.HasCertificates {
		annotations.setGiven(injectCA, "and .Values.certManager.enabled .Values.webhook.enabled")
	}
	if i := annotations.index(keepPolicy); i < 0 {
		annotations = append(annotations, entry{key: keepPolicy, value: "keep", given: ".Values.crd.keep"})
	}
	fields = fields.set(annotations.sorted(), "metadata", "annotations")
	if labels := fields.mappingAt("metadata", "labels"); labels != nil {
		fields = fields.set(p.ownLabels(labels), "metadata", "labels")
	}
	metadata := fields.mappingAt("metadata").sorted()
	return fields.set(metadata, "metadata")
}

// certified returns a webhook configuration whose certificate can come from values.
func (p *parts) certified(fields mapping) mapping {
	webhooks, _ := fields.at("webhooks").(sequence)
	for i := range webhooks {
		if webhook, ok := webhooks[i].value.(mapping); ok {
			webhooks[i].value = p.certifiedConfig(webhook, "clientConfig")
		}
	}
	return fields
}

func (p *parts) certifiedConfig(fields mapping, path ...string) mapping {
	if fields.mappingAt(path...) == nil {
		return fields
	}
	if p.settings.HasIssuer || !p.settings.HasCertificates && fields.at(append(path, "caBundle")...) != nil {
		return fields // the manager sets it, or it is given
	}
	block := "givenCABundle"
	if p.settings.HasCertificates {
		block = "caBundle"
	}
	return fields.change(func(config any) any {
		return append(mapping{{key: "caBundle", lines: p.block(block)}}, config.(mapping).without("caBundle")...)
	}, path...)
}

// account returns the template of the manager's service account.
func (p *parts) account(fields mapping) mapping {
	metadata := fields.mappingAt("metadata").set(p.accountName(), "name")
	return fields.set(p.extendedMetadata(metadata, "serviceAccount"), "metadata")
}

// extendedMetadata returns metadata with the annotations and labels of a section of the values added.
func (p *parts) extendedMetadata(metadata mapping, section string) mapping {
	for _, key := range []string{"annotations", "labels"} {
		metadata = p.extended(metadata, key, section+"."+key)
	}
	return metadata.sorted()
}

// extended returns metadata with the entries of a value added to one of its keys.
func (p *parts) extended(m mapping, key, value string) mapping {
	added := func(indent int) string { return chartBlock("entries", indent, value) }
	if m.mappingAt(key) != nil {
		return m.change(func(v any) any { return append(v.(mapping), entry{lines: added}) }, key)
	}
	return m.replace(key, func(indent int) string { return chartBlock("field", indent, key, value) })
}

// role returns the condition and the template of a role or binding.
func (p *parts) role(o manifest.Object, fields mapping) (given string, _ mapping) {
	name := o.Name()
	isBinding := strings.HasSuffix(o.Kind(), "Binding")
	if isBinding {
		name = textAt(o.Fields, "roleRef", "name")
		p.nameAccount(o, fields)
	}
	switch {
	case p.managers[name] && (o.Kind() == "ClusterRole" || o.Kind() == "ClusterRoleBinding"):
		return "", p.scoped(o, fields)
	case p.auth[name]:
		return secureMetrics, fields
	case p.issuers[name]:
		return webhooksOn, fields
	case !isBinding && readsMetrics(o):
		return metricsOn, fields
	}
	audience := ""
	if !isBinding {
		audience = helperRole(o, p.bound)
	}
	if audience == "" {
		return "", fields
	}
	label := "rbac.authorization.k8s.io/aggregate-to-" + audience
	metadata := fields.mappingAt("metadata")
	if metadata.mappingAt("labels").index(label) < 0 {
		fields = fields.change(func(labels any) any {
			m, _ := labels.(mapping)
			return append(m, entry{key: label, value: "true", given: ".Values.rbac.helpers.aggregate"})
		}, "metadata", "labels")
		fields.set(fields.mappingAt("metadata").sorted(), "metadata")
	}
	return ".Values.rbac.helpers.enabled", fields
}

// nameAccount makes the subjects of a binding that are the manager's service account follow its name.
func (p *parts) nameAccount(o manifest.Object, fields mapping) {
	subjects, _ := fields.at("subjects").(sequence)
	for i, subject := range listAt(o.Fields, "subjects") {
		isManager := textAt(subject, "kind") == "ServiceAccount" && textAt(subject, "name") == p.serviceAccount
		if m, ok := subjects[i].value.(mapping); ok && isManager && p.serviceAccount != "" {
			subjects[i].value = m.set(p.accountName(), "name")
		}
	}
}

// scoped returns a role or binding of the manager that a value limits to the namespace of the release. Its name gets a suffix if there is
// already such an object in the namespace.
func (p *parts) scoped(o manifest.Object, fields mapping) mapping {
	kind := func(suffix string) expression {
		return expression(fmt.Sprintf("{{ ternary %q %q %s }}", "Role"+suffix, "ClusterRole"+suffix, namespaced))
	}
	name := func(kind, name string) any {
		current := p.text(name)
		if !slices.ContainsFunc(p.options.Objects, func(o manifest.Object) bool { return o.Kind() == kind && o.Name() == name }) {
			return current
		}
		return expression(fmt.Sprintf(`%s{{ ternary "-scoped" "" %s }}`, scalar(current), namespaced))
	}
	if o.Kind() == "ClusterRoleBinding" {
		fields = fields.set(kind("Binding"), "kind").set(kind(""), "roleRef", "kind")
		fields = fields.set(name("Role", textAt(o.Fields, "roleRef", "name")), "roleRef", "name").set(name("RoleBinding", o.Name()), "metadata", "name")
	} else {
		fields = fields.set(kind(""), "kind").set(name("Role", o.Name()), "metadata", "name")
	}
	metadata := fields.mappingAt("metadata").set(expression("{{ .Release.Namespace }}"), "namespace")
	metadata.setGiven("namespace", namespaced)
	return fields.set(metadata.sorted(), "metadata")
}

// monitor returns the template of a ServiceMonitor with the labels of a value.
func (p *parts) monitor(fields mapping) mapping {
	endpoints, _ := fields.at("spec", "endpoints").(sequence)
	for i := range endpoints {
		endpoint, ok := endpoints[i].value.(mapping)
		if !ok || endpoint.at("scheme") != "https" || !p.settings.HasSecure {
			continue
		}
		endpoint = p.schemed(endpoint, "port", "scheme")
		for _, key := range []string{"bearerTokenFile", "authorization", "tlsConfig"} {
			endpoint.setGiven(key, ".Values.metrics.secure")
		}
		endpoints[i].value = endpoint
	}
	return fields.set(p.extendedMetadata(fields.mappingAt("metadata"), "prometheus"), "metadata")
}

// policy returns the template of a network policy whose ports follow the values.
func (p *parts) policy(fields mapping) mapping {
	return walk(fields, func(m mapping) mapping {
		switch port := number(m.at("port")); {
		case port == 0:
		case port == p.settings.MetricsPort:
			return m.set(expression("{{ .Values.metrics.port }}"), "port")
		case port == p.settings.WebhookPort:
			return m.set(expression("{{ .Values.webhook.port }}"), "port")
		}
		return m
	}).(mapping)
}

// webhookService returns the template of a Service that webhooks call, whose port in the manager follows the value.
func (p *parts) webhookService(fields mapping) mapping {
	ports, _ := fields.at("spec", "ports").(sequence)
	for i := range ports {
		if m, ok := ports[i].value.(mapping); ok && p.settings.WebhookPort > 0 && number(m.at("targetPort")) == p.settings.WebhookPort {
			ports[i].value = m.set(expression("{{ .Values.webhook.port }}"), "targetPort")
		}
	}
	return fields
}

// certificate returns the template of a Certificate, whose Secret follows the value that the manager mounts.
func (p *parts) certificate(fields mapping) mapping {
	if p.settings.WebhookSecret != "" && fields.at("spec", "secretName") == p.settings.WebhookSecret {
		return fields.set(expression("{{ .Values.webhook.secretName }}"), "spec", "secretName")
	}
	return fields
}
