package rbac

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestResourceOf(t *testing.T) {
	t.Parallel()
	custom := map[GroupKind]string{{"example.com", "Cache"}: "cachings"}
	for kind, want := range map[GroupKind]string{
		{"", "Pod"}: "pods", {"networking.k8s.io", "Ingress"}: "ingresses", {"example.com", "Cache"}: "cachings",
		{"k8s.cni.cncf.io", "NetworkAttachmentDefinition"}: "network-attachment-definitions",
		{"config.openshift.io", "Proxy"}:                   "proxies", {"monitoring.coreos.com", "Prometheus"}: "prometheuses",
		{"security.openshift.io", "SecurityContextConstraints"}: "securitycontextconstraints", {"policy", "PodSecurityPolicy"}: "podsecuritypolicies",
		{"gateway.networking.k8s.io", "GatewayClass"}: "gatewayclasses", {"metrics.k8s.io", "PodMetrics"}: "pods",
	} {
		if got, guessed := ResourceOf(kind, custom); got != want || guessed {
			t.Errorf("%s: got %s (a guess: %t), want %s", kind, got, guessed, want)
		}
	}
	for _, kind := range []GroupKind{{"example.com", "Pod"}, {"", "Cache"}, {"apps", "Pod"}} {
		if got, guessed := ResourceOf(kind, custom); !guessed {
			t.Errorf("%s: %s is no guess", kind, got)
		}
	}
}

// The tables are sorted, so that a kind is not added twice.
func TestWellKnown(t *testing.T) {
	t.Parallel()
	for _, group := range slices.Sorted(maps.Keys(wellKnown)) {
		kinds := strings.Fields(wellKnown[group])
		if !slices.IsSorted(kinds) || len(slices.Compact(slices.Clone(kinds))) != len(kinds) {
			t.Errorf("%s: %v", group, kinds)
		}
	}
	if groups := Groups(); groups[0] != "" || !slices.Contains(groups, "apps") || !slices.Contains(groups, "k8s.cni.cncf.io") {
		t.Errorf("got %q", groups)
	}
}
