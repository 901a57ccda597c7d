package operatorchart

import (
	"slices"
	"strings"
)

// deployment returns the template of the manager's Deployment.
func (p *parts) deployment(fields mapping) mapping {
	fields = fields.set(p.extendedMetadata(fields.mappingAt("metadata"), "manager"), "metadata")
	spec := fields.mappingAt("spec")
	spec = p.valued(spec, "replicas", "manager.replicas")
	spec = p.valued(spec, "strategy", "manager.strategy")
	template := spec.mappingAt("template")
	template = template.set(p.extendedMetadata(template.mappingAt("metadata"), "manager.pod"), "metadata")
	template = template.set(p.pod(template.mappingAt("spec")), "spec")
	return fields.set(spec.set(template, "template").sorted(), "spec")
}

// valued replaces a key by a value of the chart, which leaves it out if it is empty.
func (p *parts) valued(m mapping, key, value string) mapping {
	block := "field"
	switch key {
	case "priorityClassName", "imagePullPolicy":
		block = "text"
	case "terminationGracePeriodSeconds", "replicas":
		block = "number"
	}
	return m.replace(key, func(indent int) string { return chartBlock(block, indent, key, value) })
}

// pod returns the spec of the manager's pods.
func (p *parts) pod(spec mapping) mapping {
	for _, key := range []string{"containers", "initContainers"} {
		all, _ := spec.at(key).(sequence)
		for _, c := range all {
			p.guardMounts(c.value)
		}
	}
	containers, _ := spec.at("containers").(sequence)
	i := managerContainer(p.manager)
	container, _ := containers[i].value.(mapping)
	containers[i].value = p.container(container)
	for _, value := range podValues() {
		spec = p.valued(spec, value.key, "manager."+value.value)
	}
	if p.serviceAccount != "" {
		spec = spec.set(p.accountName(), "serviceAccountName")
	}
	spec = p.listed(spec, "volumes", "manager.extraVolumes")
	volumes, _ := spec.at("volumes").(sequence)
	for i, v := range volumes {
		if volume, ok := v.value.(mapping); ok {
			volumes[i].given = p.volumeGiven(volume)
			if p.settings.WebhookSecret != "" && volume.at("secret", "secretName") == p.settings.WebhookSecret {
				volumes[i].value = volume.set(expression("{{ .Values.webhook.secretName }}"), "secret", "secretName")
			}
		}
	}
	return spec.sorted()
}

// A podValue is a key of a pod or container that is a value of the chart.
type podValue struct{ key, value string }

// podValues returns the keys of a pod that are values of the chart.
func podValues() []podValue {
	return []podValue{
		{"affinity", "affinity"}, {"imagePullSecrets", "imagePullSecrets"}, {"nodeSelector", "nodeSelector"}, {"priorityClassName", "priorityClassName"},
		{"securityContext", "podSecurityContext"}, {"terminationGracePeriodSeconds", "terminationGracePeriodSeconds"}, {"tolerations", "tolerations"},
		{"topologySpreadConstraints", "topologySpreadConstraints"},
	}
}

// listed adds the items of a value to a list.
func (p *parts) listed(m mapping, key, value string) mapping {
	items, _ := m.at(key).(sequence)
	if len(items) == 0 && m.index(key) >= 0 { // an empty list stays one
		return m.replace(key, func(indent int) string { return chartBlock("list", indent, key, value) })
	}
	items = append(items, entry{given: ".Values." + value, lines: func(indent int) string { return chartBlock("items", indent, value) }})
	return m.set(items, key)
}

// volumeGiven returns the condition of a volume or its mount. A certificate is only needed by what uses it.
func (p *parts) volumeGiven(volume mapping) string {
	name, _ := volume.at("name").(string)
	switch {
	case isWebhookCertificate(name) && len(p.webhooks) > 0:
		return webhooksOn
	case isCertificate(name) && !isWebhookCertificate(name) && p.settings.HasCertificates && p.settings.HasMetrics:
		return "and .Values.metrics.enabled .Values.certManager.enabled"
	}
	return ""
}

// isCertificate reports whether a volume holds a certificate, by its name.
func isCertificate(name string) bool { return strings.Contains(name, "cert") }

// isWebhookCertificate reports whether a volume holds a certificate that isn't the one of the metrics.
func isWebhookCertificate(name string) bool {
	return isCertificate(name) && !strings.Contains(name, "metrics")
}

// container returns the container of the manager.
func (p *parts) container(c mapping) mapping {
	c = c.set(expression(p.helper("image")), "image")
	c = p.valued(c, "imagePullPolicy", "manager.image.pullPolicy")
	c = p.valued(c, "resources", "manager.resources")
	c = p.valued(c, "securityContext", "manager.securityContext")
	if args, ok := c.at("args").(sequence); ok {
		c = c.set(p.args(args), "args")
	} else {
		c = c.set(p.args(nil), "args")
	}
	env, _ := c.at("env").(sequence)
	isEmpty := len(env) == 0 && c.index("env") >= 0
	c = c.set(p.env(env), "env")
	if isEmpty { // an empty list stays one
		i := c.index("env")
		c[i].given = c[i].condition()
		c = slices.Insert(c, i+1, entry{key: "env", value: sequence{}, given: "not (" + c[i].given + ")"})
	}
	ports, _ := c.at("ports").(sequence)
	for i, port := range ports {
		if m, ok := port.value.(mapping); ok {
			ports[i] = p.port(m)
		}
	}
	for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		if get := c.mappingAt(probe, "httpGet"); get != nil && p.settings.HealthPort > 0 && number(get.at("port")) == p.settings.HealthPort {
			get.set(expression("{{ .Values.manager.healthProbe.port }}"), "port")
		}
	}
	c = p.listed(c, "volumeMounts", "manager.extraVolumeMounts")
	return c.sorted()
}

// guardMounts makes the mounts of a container depend on the conditions of their volumes.
func (p *parts) guardMounts(container any) {
	c, _ := container.(mapping)
	mounts, _ := c.at("volumeMounts").(sequence)
	for i, m := range mounts {
		if mount, ok := m.value.(mapping); ok {
			mounts[i].given = p.volumeGiven(mount)
		}
	}
}

// port returns a port of the manager's container.
func (p *parts) port(m mapping) entry {
	e := entry{value: m}
	name, _ := m.at("name").(string)
	switch port := number(m.at("containerPort")); {
	case p.settings.HealthPort > 0 && port == p.settings.HealthPort:
		e.value = m.set(expression("{{ .Values.manager.healthProbe.port }}"), "containerPort")
	case p.settings.MetricsPort > 0 && port == p.settings.MetricsPort:
		e.value, e.given = m.set(expression("{{ .Values.metrics.port }}"), "containerPort"), metricsOn
	case p.settings.WebhookPort > 0 && port == p.settings.WebhookPort:
		e.value, e.given = m.set(expression("{{ .Values.webhook.port }}"), "containerPort"), webhooksOn
	case strings.Contains(name, "webhook") && len(p.webhooks) > 0:
		e.given = webhooksOn
	}
	return e
}

// hasExpression reports whether a part of a value follows the release.
func hasExpression(value any) bool {
	switch v := value.(type) {
	case expression:
		return true
	case mapping:
		return slices.ContainsFunc(v, func(e entry) bool { return hasExpression(e.value) })
	case sequence:
		return slices.ContainsFunc(v, func(e entry) bool { return hasExpression(e.value) })
	}
	return false
}

// metricsService returns the template of the Service of the manager's metrics.
func (p *parts) metricsService(fields mapping) mapping {
	ports, _ := fields.at("spec", "ports").(sequence)
	for i := range ports {
		m, _ := ports[i].value.(mapping)
		for _, key := range []string{"port", "targetPort"} {
			if p.settings.MetricsPort > 0 && number(m.at(key)) == p.settings.MetricsPort {
				m = m.set(expression("{{ .Values.metrics.port }}"), key)
			}
		}
		ports[i].value = p.schemed(m, "name", "targetPort")
	}
	return fields
}

// schemed makes values of keys that are "https" follow the value that secures the metrics.
func (p *parts) schemed(m mapping, keys ...string) mapping {
	for _, key := range keys {
		if p.settings.HasSecure && m.at(key) == "https" {
			m = m.set(expression(`{{ ternary "https" "http" .Values.metrics.secure }}`), key)
		}
	}
	return m
}

// number returns an integer of a manifest, or 0.
func number(value any) int64 {
	switch n := value.(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	case int:
		return int64(n)
	}
	return 0
}
