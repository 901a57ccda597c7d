package source

import (
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/operon-sdk/operon/pkg/helmchart"
)

// operatorAPIs are the kinds of operators that charts look for in .Capabilities.APIVersions, by API version.
var operatorAPIs = map[string][]string{
	"acme.cert-manager.io/v1": {"Challenge", "Order"},
	"argoproj.io/v1alpha1": {
		"AnalysisTemplate", "AppProject", "Application", "ApplicationSet", "ClusterWorkflowTemplate", "CronWorkflow", "EventBus",
		"EventSource", "Rollout", "Sensor", "Workflow", "WorkflowTemplate",
	},
	"autoscaling.k8s.io/v1":                {"VerticalPodAutoscaler"},
	"bitnami.com/v1alpha1":                 {"SealedSecret"},
	"cert-manager.io/v1":                   {"Certificate", "CertificateRequest", "ClusterIssuer", "Issuer"},
	"cilium.io/v2":                         {"CiliumClusterwideNetworkPolicy", "CiliumNetworkPolicy"},
	"crd.projectcalico.org/v1":             {"NetworkPolicy"},
	"external-secrets.io/v1":               {"ClusterExternalSecret", "ClusterSecretStore", "ExternalSecret", "SecretStore"},
	"external-secrets.io/v1beta1":          {"ClusterExternalSecret", "ClusterSecretStore", "ExternalSecret", "SecretStore"},
	"gateway.networking.k8s.io/v1":         {"GRPCRoute", "Gateway", "GatewayClass", "HTTPRoute"},
	"gateway.networking.k8s.io/v1alpha2":   {"TCPRoute", "TLSRoute", "UDPRoute"},
	"gateway.networking.k8s.io/v1beta1":    {"Gateway", "GatewayClass", "HTTPRoute", "ReferenceGrant"},
	"grafana.integreatly.org/v1beta1":      {"Grafana", "GrafanaDashboard", "GrafanaDatasource", "GrafanaFolder"},
	"keda.sh/v1alpha1":                     {"ClusterTriggerAuthentication", "ScaledJob", "ScaledObject", "TriggerAuthentication"},
	"kyverno.io/v1":                        {"ClusterPolicy", "Policy"},
	"kyverno.io/v2":                        {"PolicyException"},
	"metrics.k8s.io/v1beta1":               {"NodeMetrics", "PodMetrics"},
	"monitoring.coreos.com/v1":             {"Alertmanager", "PodMonitor", "Probe", "Prometheus", "PrometheusRule", "ServiceMonitor", "ThanosRuler"},
	"monitoring.coreos.com/v1alpha1":       {"AlertmanagerConfig", "PrometheusAgent", "ScrapeConfig"},
	"networking.istio.io/v1":               {"DestinationRule", "Gateway", "ServiceEntry", "Sidecar", "VirtualService"},
	"networking.istio.io/v1alpha3":         {"DestinationRule", "EnvoyFilter", "Gateway", "ServiceEntry", "Sidecar", "VirtualService"},
	"networking.istio.io/v1beta1":          {"DestinationRule", "Gateway", "ServiceEntry", "Sidecar", "VirtualService"},
	"opentelemetry.io/v1alpha1":            {"Instrumentation", "OpAMPBridge"},
	"opentelemetry.io/v1beta1":             {"OpenTelemetryCollector"},
	"operator.victoriametrics.com/v1beta1": {"VMPodScrape", "VMRule", "VMServiceScrape"},
	"policy.linkerd.io/v1beta1":            {"Server", "ServerAuthorization"},
	"projectcontour.io/v1":                 {"HTTPProxy", "TLSCertificateDelegation"},
	"route.openshift.io/v1":                {"Route"},
	"secrets-store.csi.x-k8s.io/v1":        {"SecretProviderClass"},
	"security.istio.io/v1":                 {"AuthorizationPolicy", "PeerAuthentication", "RequestAuthentication"},
	"security.istio.io/v1beta1":            {"AuthorizationPolicy", "PeerAuthentication", "RequestAuthentication"},
	"security.openshift.io/v1":             {"SecurityContextConstraints"},
	"snapshot.storage.k8s.io/v1":           {"VolumeSnapshot", "VolumeSnapshotClass", "VolumeSnapshotContent"},
	"traefik.io/v1alpha1":                  {"IngressRoute", "IngressRouteTCP", "IngressRouteUDP", "Middleware", "MiddlewareTCP", "ServersTransport", "TLSOption", "TLSStore", "TraefikService"},
	"wgpolicyk8s.io/v1alpha2":              {"ClusterPolicyReport", "PolicyReport"},
}

// capabilities returns what templates find in .Capabilities: a cluster of a Kubernetes version with the CRDs of the
// chart and, unless builtinOnly, the CRDs of common operators.
func capabilities(kubernetes string, builtinOnly bool, crds []helmchart.RenderedObject) (*common.Capabilities, error) {
	version, err := common.ParseKubeVersion(kubernetes)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	add := func(apiVersion string, kinds ...string) {
		found[apiVersion] = true
		for _, kind := range kinds {
			found[apiVersion+"/"+kind] = true
		}
	}
	for gvk := range scheme.Scheme.AllKnownTypes() {
		if served(gvk, version) {
			add(gvk.GroupVersion().String(), gvk.Kind)
		}
	}
	add("apiextensions.k8s.io/v1", "CustomResourceDefinition")
	add("apiregistration.k8s.io/v1", "APIService")
	if !builtinOnly {
		for apiVersion, kinds := range operatorAPIs {
			add(apiVersion, kinds...)
		}
	}
	for _, crd := range crds {
		addCRD(crd.Object, add)
	}
	result := common.DefaultCapabilities.Copy()
	result.KubeVersion = *version
	result.APIVersions = slices.Sorted(maps.Keys(found))
	return result, nil
}

// served reports whether an API server of the version serves a kind of client-go by default. Charts prefer an old version
// of a kind where they find it.
func served(gvk schema.GroupVersionKind, version *common.KubeVersion) bool {
	if gvk.Version == "__internal" || strings.Contains(gvk.Version, "alpha") || gvk.Group == "apiextensions.k8s.io" ||
		strings.HasSuffix(gvk.Kind, "List") || strings.HasSuffix(gvk.Kind, "Options") || gvk.Kind == "WatchEvent" {
		return false
	}
	object, err := scheme.Scheme.New(gvk)
	if err != nil {
		return false
	}
	now := minorOf(version.Version)
	if o, ok := object.(interface{ APILifecycleIntroduced() (major, minor int) }); ok {
		if _, introduced := o.APILifecycleIntroduced(); now < introduced {
			return false
		}
	}
	if o, ok := object.(interface{ APILifecycleRemoved() (major, minor int) }); ok {
		if _, removed := o.APILifecycleRemoved(); now >= removed {
			return false
		}
	}
	return true
}

func addCRD(crd map[string]any, add func(apiVersion string, kinds ...string)) {
	spec, _ := crd["spec"].(map[string]any)
	group, _ := spec["group"].(string)
	names, _ := spec["names"].(map[string]any)
	kind, _ := names["kind"].(string)
	if group == "" || kind == "" {
		return
	}
	if version, ok := spec["version"].(string); ok { // apiextensions.k8s.io/v1beta1
		add(group+"/"+version, kind)
	}
	versions, _ := spec["versions"].([]any)
	for _, element := range versions {
		version, _ := element.(map[string]any)
		if name, ok := version["name"].(string); ok && version["served"] != false {
			add(group+"/"+name, kind)
		}
	}
}
