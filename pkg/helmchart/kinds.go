package helmchart

import (
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
)

const (
	groupCRD      = "apiextensions.k8s.io"
	groupRBAC     = "rbac.authorization.k8s.io"
	groupPolicies = "admissionregistration.k8s.io"
)

// A groupKind identifies a kind in all versions of its group.
type groupKind struct{ group, kind string }

// irregularPlurals has kinds of other projects, and those that newer versions of Kubernetes no longer have, whose resource is not the
// English plural, or whose plural is known. It is constant.
var irregularPlurals = map[groupKind]string{
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

// customResources returns the resources of the CRDs among objects.
func customResources(objects []RenderedObject, into map[groupKind]string) {
	for _, o := range objects {
		if o.groupKind() == (groupKind{groupCRD, "CustomResourceDefinition"}) {
			kind := groupKind{o.text("spec", "group"), o.text("spec", "names", "kind")}
			if plural := o.text("spec", "names", "plural"); plural != "" {
				into[kind] = plural
			}
		}
	}
}

// resourceOf returns the resource of a kind. guessed reports whether it is the English plural of a kind that is neither of
// Kubernetes nor defined by the chart nor well-known.
func resourceOf(kind groupKind, custom map[groupKind]string) (plural string, guessed bool) {
	if plural, ok := custom[kind]; ok {
		return plural, false
	}
	if core, ok := project.FindCoreResource(kind.group, kind.kind); ok {
		return core.Plural, false
	}
	if plural, ok := irregularPlurals[kind]; ok {
		return plural, false
	}
	return project.RegularPlural(kind.kind), true
}

// flatten replaces lists among objects by their items.
func flatten(objects []RenderedObject) []RenderedObject {
	var flat []RenderedObject
	for _, o := range objects {
		items, ok := o.Object["items"].([]any)
		if !ok || !strings.HasSuffix(o.text("kind"), "List") {
			flat = append(flat, o)
			continue
		}
		for _, item := range items {
			if fields, ok := item.(map[string]any); ok {
				flat = append(flat, RenderedObject{Template: o.Template, Hooks: o.Hooks, Object: fields})
			}
		}
	}
	return flat
}

// isTest reports whether an object is only created by "helm test".
func (o RenderedObject) isTest() bool {
	return len(o.Hooks) > 0 && !slices.ContainsFunc(o.Hooks, func(hook string) bool { return !strings.HasPrefix(hook, "test") })
}

// groupKind returns the kind with the group of its API version.
func (o RenderedObject) groupKind() groupKind {
	return groupKind{groupOf(o.text("apiVersion")), o.text("kind")}
}

// groupOf returns the group of an API version.
func groupOf(apiVersion string) string {
	group, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		return ""
	}
	return group
}

// text returns a text field of the object, or "" if it has none.
func (o RenderedObject) text(path ...string) string {
	last := len(path) - 1
	text, _ := fieldAt(o.Object, path[:last]...)[path[last]].(string)
	return text
}

// fieldAt returns the mapping at a path of nested mappings, or nil.
func fieldAt(fields map[string]any, path ...string) map[string]any {
	for _, key := range path {
		fields, _ = fields[key].(map[string]any)
	}
	return fields
}
