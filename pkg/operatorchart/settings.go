package operatorchart

import (
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// settings are the data of the files in templates/chart: what the values of a chart are, and their defaults. Zero and nil mean that the
// operator doesn't have a setting.
type settings struct {
	// Name is the name of the chart, and Base the name that a release has by default, the prefix of the kustomization without its hyphen.
	Name, Base string
	// Namespace is the namespace of the kustomization.
	Namespace string
	// Repository and Tag are the manager's image. Its digest is part of the tag: "@sha256:…".
	Repository, Tag string
	PullPolicy      string
	// Replicas is the number of pods, or nil.
	Replicas any
	// Args and Env are the arguments and variables of the manager that no other value sets.
	Args, Env []any
	// HealthPort and MetricsPort are ports in the manager's arguments, and WebhookPort is the one that the Service of the webhooks calls.
	HealthPort, MetricsPort, WebhookPort int64
	// Pod and Container are keys of the manager's pod and container by the name of the value.
	Pod, Container map[string]any
	Strategy       any
	// HasSecure reports whether an argument decides whether metrics need TLS and a token, and Secure the default.
	HasSecure, Secure bool
	// HasX report whether the chart has the objects that a value switches, and Monitored and Isolated whether those that can be offered are
	// part of the kustomization.
	HasAccount, HasCRDs, HasMetrics, HasWebhooks, HasCertificates, HasMonitor, HasPolicies, HasHelpers, HasScope bool
	Monitored, Isolated                                                                                          bool
	// OnlyCRDs reports whether the chart has nothing but the CRDs.
	OnlyCRDs bool
	// Separate reports whether another chart has the CRDs, and Converts whether webhooks convert between versions of some.
	Separate, Converts bool
	// HasIssuer reports whether the manager issues the certificate of the webhooks.
	HasIssuer bool
	// HasLongNames reports whether objects have names with more than 63 characters.
	HasLongNames bool
	// WebhookSecret is the Secret with the certificate of the webhooks, or "".
	WebhookSecret string
	// Account is the manager's service account in the kustomization.
	Account string
	// ManagerName and AccountName are actions for the names of the manager's Deployment, and expressions for its service account.
	ManagerName, AccountName string
	// AppVersion is the version of the operator, the tag of the image if there is one.
	AppVersion string
	// Rows document the values.
	Rows []row
}

// ReleaseName returns the expression for the name of the operator's release, which begins the names of its objects.
func (s *settings) ReleaseName() string {
	if s.OnlyCRDs {
		return "$release"
	}
	return ".Release.Name"
}

func newSettings(p *parts) *settings {
	manager := containers(p.manager)[managerContainer(p.manager)]
	pod := manifest.MapAt(p.manager.Fields, "spec", "template", "spec")
	s := &settings{
		Name: p.options.Name, Base: strings.TrimSuffix(p.prefix, "-"), Namespace: p.namespace, PullPolicy: textAt(manager, "imagePullPolicy"),
		Pod: map[string]any{}, Container: map[string]any{}, Strategy: valueAt(p.manager.Fields, "spec", "strategy"), Secure: true,
		HasAccount: p.serviceAccount != "", HasWebhooks: len(p.webhooks) > 0, HasIssuer: len(p.issues) > 0, HasScope: len(p.managers) > 0,
	}
	if s.Base == "" {
		s.Base = p.options.Name
	}
	s.Replicas = valueAt(p.manager.Fields, "spec", "replicas")
	s.Repository, s.Tag = splitImage(textAt(manager, "image"))
	if !strings.HasPrefix(s.Tag, "@") {
		s.AppVersion = s.Tag
	}
	s.Account = p.serviceAccount
	s.ManagerName, s.AccountName = p.manager.Name(), strconv.Quote(p.serviceAccount)
	if p.follows(s.ManagerName) {
		s.ManagerName = p.action(s.ManagerName)
	}
	if p.follows(p.serviceAccount) {
		s.AccountName = p.resourceName(p.serviceAccount)
	}
	for _, value := range podValues() {
		s.Pod[value.value] = pod[value.key]
	}
	for _, key := range []string{"resources", "securityContext"} {
		s.Container[key] = manager[key]
	}
	s.readArgs(p, listAt(manager, "args"))
	var env []any
	for _, variable := range listAt(manager, "env") {
		env = append(env, tree(variable, "", p.value))
	}
	from, to := p.valueEnv(env)
	s.Env = listAt(manager, "env")[from:to]
	for _, volume := range listAt(pod, "volumes") {
		secret := textAt(volume, "secret", "secretName")
		_, isPlain := p.text(secret).(string)
		if secret != "" && isPlain && s.HasWebhooks && isWebhookCertificate(textAt(volume, "name")) {
			s.WebhookSecret = secret
		}
	}
	s.readObjects(p)
	return s
}

// readArgs reads the settings in the manager's arguments.
func (s *settings) readArgs(p *parts, args []any) {
	for _, arg := range args {
		text, ok := arg.(string)
		flag, value, _ := strings.Cut(text, "=")
		port, _ := strconv.ParseInt(value[strings.LastIndexByte(value, ':')+1:], 10, 32)
		switch {
		case !ok:
		case flag == "--metrics-bind-address" && !strings.HasPrefix(value, "127.0.0.1:") && port > 0:
			s.MetricsPort, s.HasMetrics = port, true
		case flag == "--metrics-secure":
			s.HasMetrics, s.HasSecure, s.Secure = true, true, value != "false"
		case strings.HasPrefix(flag, "--metrics-cert-"):
			s.HasMetrics = true
		case flag == "--health-probe-bind-address":
			s.HealthPort = port
		}
	}
	from, to := p.valueArgs(args)
	s.Args = args[from:to]
}

// readObjects finds what can be switched.
func (s *settings) readObjects(p *parts) {
	s.HasLongNames = slices.ContainsFunc(p.objects, func(name string) bool { return len(name) > maxLabel })
	for i, o := range p.all() {
		isOffered := i >= len(p.options.Objects)
		switch {
		case o.Kind() == "CustomResourceDefinition":
			s.HasCRDs = true
			s.Converts = s.Converts || valueAt(o.Fields, "spec", "conversion", "webhook") != nil
		case o.Group() == "cert-manager.io":
			s.HasCertificates, s.HasMetrics = true, s.HasMetrics || p.isMetricsCertificate(o)
		case o.Group() == "monitoring.coreos.com":
			s.HasMetrics, s.HasMonitor, s.Monitored = true, true, s.Monitored || !isOffered
		case o.Kind() == "Service" && slices.Contains(p.webhooks, o.Name()):
			for _, port := range listAt(o.Fields, "spec", "ports") {
				s.WebhookPort = number(valueAt(port, "targetPort"))
			}
		case o.Kind() == "NetworkPolicy":
			s.HasPolicies, s.Isolated, s.HasMetrics = true, s.Isolated || !isOffered, s.HasMetrics || strings.Contains(o.Name(), "metrics")
		case isMetricsService(o) || o.Kind() == "ClusterRole" && readsMetrics(o):
			s.HasMetrics = true
		case o.Kind() == "ClusterRole" && isAuthRole(o):
			s.HasMetrics, s.HasSecure = true, s.HasSecure || s.MetricsPort > 0
		case helperRole(o, p.bound) != "":
			s.HasHelpers = true
		}
	}
}

// splitImage splits an image reference into repository and tag. A digest is a tag with "@".
func splitImage(image string) (repository, tag string) {
	if i := strings.IndexByte(image, '@'); i >= 0 {
		return image[:i], image[i:]
	}
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		return image[:i], image[i+1:]
	}
	return image, ""
}
