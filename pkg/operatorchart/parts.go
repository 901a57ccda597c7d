package operatorchart

import (
	"cmp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// The conditions of the parts of a chart.
const (
	metricsOn     = ".Values.metrics.enabled"
	secureMetrics = "and .Values.metrics.enabled .Values.metrics.secure"
	webhooksOn    = ".Values.webhook.enabled"
	certManager   = ".Values.certManager.enabled"
	namespaced    = ".Values.rbac.namespaced"
)

// parts classify the objects of an operator.
type parts struct {
	*names
	options  Options
	settings *settings
	manager  manifest.Object
	// webhooks are the names of the services that webhooks and conversions call.
	webhooks []string
	// bound has the names of roles that bindings refer to, managers the cluster roles of the manager's service account, and auth those with which
	// the manager checks who reads its metrics.
	bound, managers, auth map[string]bool
	// issues has the Secrets in which the manager keeps certificates that it issues, issuers the roles that let it do so.
	issues, issuers map[string]bool
}

// A part is the template of an object.
type part struct {
	// dir is the directory of the file in templates, and base its name without extension.
	dir, base string
	// given is the condition of the object, or "".
	given  string
	fields mapping
}

func (p part) file() string { return "templates/" + p.dir + "/" + p.base + ".yaml" }

func newParts(o Options) (*parts, error) {
	manager, ok := findManager(o.Objects)
	if !ok || len(containers(manager)) == 0 {
		return nil, errNoManager()
	}
	if o.Prefix == "" {
		o.Prefix = inferPrefix(manager, o.Objects)
	}
	o.Namespace = cmp.Or(o.Namespace, manager.Namespace())
	p := &parts{options: o, names: newNames(o), manager: manager, bound: map[string]bool{}, managers: map[string]bool{}, auth: map[string]bool{}}
	pod := manifest.MapAt(manager.Fields, "spec", "template", "spec")
	p.serviceAccount = textAt(pod, "serviceAccountName")
	if !slices.ContainsFunc(o.Objects, func(obj manifest.Object) bool {
		return obj.Kind() == "ServiceAccount" && obj.Name() == p.serviceAccount
	}) {
		p.serviceAccount = ""
	}
	for _, obj := range o.Objects {
		if !strings.HasSuffix(obj.Kind(), "RoleBinding") {
			continue
		}
		role := textAt(obj.Fields, "roleRef", "name")
		p.bound[role] = true
		for _, subject := range listAt(obj.Fields, "subjects") {
			if obj.Kind() == "ClusterRoleBinding" && textAt(subject, "name") == textAt(pod, "serviceAccountName") {
				p.managers[role] = true
			}
		}
	}
	for _, obj := range o.Objects {
		if obj.Kind() != "ClusterRole" {
			continue
		}
		p.auth[obj.Name()] = isAuthRole(obj)
		if p.auth[obj.Name()] || isIssuerRole(obj) || listAt(obj.Fields, "aggregationRule", "clusterRoleSelectors") != nil {
			delete(p.managers, obj.Name())
		}
	}
	p.webhooks = webhookServices(o.Objects)
	p.findIssuer()
	p.settings = newSettings(p)
	return p, nil
}

// isAuthRole reports whether a role lets the manager check who reads its metrics.
func isAuthRole(o manifest.Object) bool {
	return onlyResources(o, "tokenreviews", "subjectaccessreviews")
}

// all returns the objects, the offered ones last.
func (p *parts) all() []manifest.Object { return slices.Concat(p.options.Objects, p.options.Offered) }

// part returns the template of an object. It is false for an object that Helm makes.
func (p *parts) part(o manifest.Object) (part, bool) {
	if o.Kind() == "Namespace" && o.Name() == p.namespace {
		return part{}, false
	}
	if o.Kind() == "CustomResourceDefinition" {
		return part{"crd", fileName(o.Name()), ".Values.crd.enabled", p.crd(o)}, true
	}
	made := part{dir: "extras", base: o.Name(), fields: p.object(o)}
	if p.follows(made.base) {
		made.base = strings.TrimPrefix(made.base, p.prefix)
	}
	made.base = fileName(made.base)
	switch kind, group := o.Kind(), o.Group(); {
	case kind == "Deployment" && o.String() == p.manager.String():
		made.dir, made.base, made.given, made.fields = "manager", "manager", ".Values.manager.enabled", p.deployment(made.fields)
	case kind == "ServiceAccount" && o.Name() == p.serviceAccount:
		made.dir, made.given, made.fields = "rbac", ".Values.serviceAccount.enabled", p.account(made.fields)
	case kind == "ServiceAccount":
		made.dir = "rbac"
	case kind == "Secret" && p.issues[o.Name()]:
		made.dir, made.given = "webhook", webhooksOn
	case group == "rbac.authorization.k8s.io":
		made.dir = "rbac"
		made.given, made.fields = p.role(o, made.fields)
	case kind == "Service" && slices.Contains(p.webhooks, o.Name()):
		made.dir, made.given, made.fields = "webhook", webhooksOn, p.webhookService(made.fields)
	case isMetricsService(o):
		made.dir, made.given, made.fields = "metrics", metricsOn, p.metricsService(made.fields)
	case strings.HasSuffix(kind, "WebhookConfiguration"):
		made.dir, made.given, made.fields = "webhook", webhooksOn, p.certified(made.fields)
	case group == "cert-manager.io":
		made.dir, made.given, made.fields = "cert-manager", p.certificateGiven(o), p.certificate(made.fields)
	case group == "monitoring.coreos.com":
		made.dir, made.given, made.fields = "prometheus", "and .Values.prometheus.enabled .Values.metrics.enabled", p.monitor(made.fields)
	case kind == "NetworkPolicy":
		made.dir, made.given, made.fields = "network-policy", p.policyGiven(o), p.policy(made.fields)
	}
	return made, true
}

// fileName returns the name of an object as a name of a file. Names of roles have colons.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`:/\*?"<>|`, r) {
			return '-'
		}
		return r
	}, name)
}

// certificateGiven returns the condition of an object of cert-manager.
func (p *parts) certificateGiven(o manifest.Object) string {
	switch {
	case o.Kind() != "Certificate":
		return certManager
	case p.isMetricsCertificate(o):
		return "and .Values.certManager.enabled .Values.metrics.enabled"
	case len(p.webhooks) > 0:
		return "and .Values.certManager.enabled .Values.webhook.enabled"
	}
	return certManager
}

func (p *parts) isMetricsCertificate(o manifest.Object) bool {
	return o.Kind() == "Certificate" && strings.Contains(o.Name(), "metrics")
}

// policyGiven returns the condition of a network policy.
func (p *parts) policyGiven(o manifest.Object) string {
	switch {
	case strings.Contains(o.Name(), "metrics"):
		return "and .Values.networkPolicy.enabled .Values.metrics.enabled"
	case strings.Contains(o.Name(), "webhook") && len(p.webhooks) > 0:
		return "and .Values.networkPolicy.enabled .Values.webhook.enabled"
	}
	return ".Values.networkPolicy.enabled"
}
