package rbac

import "github.com/operon-sdk/operon/pkg/project"

// A GroupKind identifies a kind in all versions of its group.
type GroupKind struct{ Group, Kind string }

// String returns the name of the kind, with its group: Deployment.apps.
func (k GroupKind) String() string {
	if k.Group == "" {
		return k.Kind
	}
	return k.Kind + "." + k.Group
}

// irregularPlurals has kinds of other projects, and those that newer versions of Kubernetes no longer have, whose resource is not the
// English plural, or whose plural is known. It is constant.
var irregularPlurals = map[GroupKind]string{
	{"apiregistration.k8s.io", "APIService"}:                  "apiservices",
	{"k8s.cni.cncf.io", "NetworkAttachmentDefinition"}:        "network-attachment-definitions",
	{"monitoring.coreos.com", "Alertmanager"}:                 "alertmanagers",
	{"monitoring.coreos.com", "AlertmanagerConfig"}:           "alertmanagerconfigs",
	{"monitoring.coreos.com", "PodMonitor"}:                   "podmonitors",
	{"monitoring.coreos.com", "Probe"}:                        "probes",
	{"monitoring.coreos.com", "Prometheus"}:                   "prometheuses",
	{"monitoring.coreos.com", "PrometheusRule"}:               "prometheusrules",
	{"monitoring.coreos.com", "ServiceMonitor"}:               "servicemonitors",
	{"monitoring.coreos.com", "ThanosRuler"}:                  "thanosrulers",
	{"cert-manager.io", "Certificate"}:                        "certificates",
	{"cert-manager.io", "ClusterIssuer"}:                      "clusterissuers",
	{"cert-manager.io", "Issuer"}:                             "issuers",
	{"gateway.networking.k8s.io", "Gateway"}:                  "gateways",
	{"gateway.networking.k8s.io", "GatewayClass"}:             "gatewayclasses",
	{"gateway.networking.k8s.io", "GRPCRoute"}:                "grpcroutes",
	{"gateway.networking.k8s.io", "HTTPRoute"}:                "httproutes",
	{"gateway.networking.k8s.io", "ReferenceGrant"}:           "referencegrants",
	{"gateway.networking.k8s.io", "TCPRoute"}:                 "tcproutes",
	{"gateway.networking.k8s.io", "TLSRoute"}:                 "tlsroutes",
	{"gateway.networking.k8s.io", "UDPRoute"}:                 "udproutes",
	{"policy", "PodSecurityPolicy"}:                           "podsecuritypolicies",
	{"extensions", "PodSecurityPolicy"}:                       "podsecuritypolicies",
	{"route.openshift.io", "Route"}:                           "routes",
	{"security.openshift.io", "SecurityContextConstraints"}:   "securitycontextconstraints",
	{"traefik.containo.us", "Middleware"}:                     "middlewares",
	{"traefik.io", "Middleware"}:                              "middlewares",
	{"autoscaling.k8s.io", "VerticalPodAutoscaler"}:           "verticalpodautoscalers",
	{"autoscaling.k8s.io", "VerticalPodAutoscalerCheckpoint"}: "verticalpodautoscalercheckpoints",
	{"snapshot.storage.k8s.io", "VolumeSnapshot"}:             "volumesnapshots",
	{"snapshot.storage.k8s.io", "VolumeSnapshotClass"}:        "volumesnapshotclasses",
}

// ResourceOf returns the resource of a kind. custom has the resources of kinds that the operator defines. guessed reports whether the
// resource is the English plural of a kind that is neither of Kubernetes nor in custom nor well-known.
func ResourceOf(kind GroupKind, custom map[GroupKind]string) (plural string, guessed bool) {
	if plural, ok := custom[kind]; ok {
		return plural, false
	}
	if core, ok := project.FindCoreResource(kind.Group, kind.Kind); ok {
		return core.Plural, false
	}
	if plural, ok := irregularPlurals[kind]; ok {
		return plural, false
	}
	return project.RegularPlural(kind.Kind), true
}
