package rbac

import (
	"maps"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
)

// A GroupKind identifies a kind in all versions of its group.
type GroupKind struct{ Group, Kind string }

// String returns the name of the kind, with its group: Deployment.apps.
func (k GroupKind) String() string {
	if k.Group == "" {
		return k.Kind
	}
	return k.Kind + "." + k.Group
}

// irregularPlurals has kinds whose resource is not the English plural. It is constant.
var irregularPlurals = map[GroupKind]string{
	{"k8s.cni.cncf.io", "NetworkAttachmentDefinition"}: "network-attachment-definitions",
	{"metrics.k8s.io", "NodeMetrics"}:                  "nodes",
	{"metrics.k8s.io", "PodMetrics"}:                   "pods",
}

// wellKnown has kinds of other projects by their group, and those that newer versions of Kubernetes no longer have, or that only are
// requests. Their resources are known to be the English plurals. It is constant.
var wellKnown = map[string]string{
	"apiregistration.k8s.io":            "APIService",
	"apps.openshift.io":                 "DeploymentConfig",
	"authentication.k8s.io":             "TokenReview",
	"authorization.k8s.io":              "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
	"autoscaling.k8s.io":                "VerticalPodAutoscaler VerticalPodAutoscalerCheckpoint",
	"build.openshift.io":                "Build BuildConfig",
	"cdi.kubevirt.io":                   "DataVolume",
	"cert-manager.io":                   "Certificate ClusterIssuer Issuer",
	"config.openshift.io":               "APIServer Authentication ClusterOperator ClusterVersion Console Infrastructure Ingress Network OAuth Proxy Scheduler",
	"console.openshift.io":              "ConsoleCLIDownload ConsoleLink ConsoleNotification ConsolePlugin ConsoleQuickStart ConsoleYAMLSample",
	"extensions":                        "PodSecurityPolicy",
	"gateway.networking.k8s.io":         "GRPCRoute Gateway GatewayClass HTTPRoute ReferenceGrant TCPRoute TLSRoute UDPRoute",
	"grafana.integreatly.org":           "Grafana GrafanaDashboard GrafanaDatasource GrafanaFolder",
	"image.openshift.io":                "Image ImageStream ImageStreamTag",
	"integreatly.org":                   "Grafana GrafanaDashboard GrafanaDataSource",
	"kubevirt.io":                       "VirtualMachine VirtualMachineInstance",
	"machineconfiguration.openshift.io": "MachineConfig MachineConfigPool",
	"monitoring.coreos.com":             "Alertmanager AlertmanagerConfig PodMonitor Probe Prometheus PrometheusAgent PrometheusRule ScrapeConfig ServiceMonitor ThanosRuler",
	"networking.istio.io":               "DestinationRule EnvoyFilter Gateway ServiceEntry Sidecar VirtualService WorkloadEntry",
	"oauth.openshift.io":                "OAuthClient",
	"operator.openshift.io":             "Authentication Console IngressController KubeAPIServer Network",
	"operators.coreos.com":              "CatalogSource ClusterServiceVersion InstallPlan Operator OperatorCondition OperatorGroup Subscription",
	"policy":                            "PodSecurityPolicy",
	"project.openshift.io":              "Project ProjectRequest",
	"route.openshift.io":                "Route",
	"security.istio.io":                 "AuthorizationPolicy PeerAuthentication RequestAuthentication",
	"security.openshift.io":             "SecurityContextConstraints",
	"snapshot.storage.k8s.io":           "VolumeSnapshot VolumeSnapshotClass",
	"template.openshift.io":             "Template",
	"traefik.containo.us":               "IngressRoute IngressRouteTCP IngressRouteUDP Middleware",
	"traefik.io":                        "IngressRoute IngressRouteTCP IngressRouteUDP Middleware",
	"user.openshift.io":                 "Group Identity User",
}

// Groups returns the API groups with well-known kinds, sorted. The first one is the core group.
func Groups() []string {
	groups := append(project.CoreGroups(), slices.Collect(maps.Keys(wellKnown))...)
	for kind := range irregularPlurals {
		groups = append(groups, kind.Group)
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}

// Kinds returns the well-known kinds of an API group.
func Kinds(group string) []string {
	kinds := append(project.CoreKinds(group), strings.Fields(wellKnown[group])...)
	for kind := range irregularPlurals {
		if kind.Group == group {
			kinds = append(kinds, kind.Kind)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// ResourceOf returns the resource of a kind. custom has the resources of kinds that the operator defines. guessed reports whether the
// resource is the English plural of a kind that is neither of Kubernetes nor in custom nor well-known.
func ResourceOf(kind GroupKind, custom map[GroupKind]string) (plural string, guessed bool) {
	if plural, ok := custom[kind]; ok {
		return plural, false
	}
	if plural, ok := irregularPlurals[kind]; ok {
		return plural, false
	}
	return project.RegularPlural(kind.Kind), !slices.Contains(Kinds(kind.Group), kind.Kind)
}
