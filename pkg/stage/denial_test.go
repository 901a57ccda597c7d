package stage_test

import (
	"testing"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/stage"
)

func TestDenialOf(t *testing.T) {
	t.Parallel()
	const user = `User "system:serviceaccount:a-system:a-controller-manager" cannot `
	for message, want := range map[string][3]string{
		`secrets is forbidden: ` + user + `list resource "secrets" in API group "" at the cluster scope`: {
			"list secrets in the whole cluster", `// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch`,
			`- {apiGroups: [""], resources: [secrets], verbs: [get, list, watch]}`,
		},
		`deployments.apps "one" is forbidden: ` + user + `patch resource "deployments/scale" in API group "apps" in the namespace "b": RBAC: role.rbac.authorization.k8s.io "x" not found`: {
			"patch deployments.apps/scale in the namespace b", "// +kubebuilder:rbac:groups=apps,resources=deployments/scale,verbs=patch",
			`- {apiGroups: ["apps"], resources: [deployments/scale], verbs: [patch]}`,
		},
		`forbidden: ` + user + `get path "/metrics"`: {
			"get /metrics", "// +kubebuilder:rbac:urls=/metrics,verbs=get", `- {nonResourceURLs: ["/metrics"], verbs: [get]}`,
		},
		`configmaps "one" is forbidden: unable to create new content in namespace b because it is being terminated`: {},
	} {
		got, ok := stage.DenialOf(gateway.Record{Code: 403, ServerCode: 403, Message: message})
		if ok != (want[0] != "") || ok && [3]string{got.String(), got.Marker(), got.Rule()} != want {
			t.Errorf("%s:\n%s\n%s\n%s", message, got, got.Marker(), got.Rule())
		}
	}
	if _, ok := stage.DenialOf(gateway.Record{Code: 403, Message: user + `get path "/"`}); ok {
		t.Error("a fault of the gateway is a denial")
	}
}

func TestDenials(t *testing.T) {
	t.Parallel()
	var d stage.Denials
	list := stage.Denial{Verb: "list", Resource: "pods"}
	if !d.Add(list) || d.Add(stage.Denial{Verb: "watch", Resource: "pods"}) || !d.Add(stage.Denial{Verb: "get", Resource: "pods"}) || len(d.List()) != 2 {
		t.Errorf("denials %v", d.List())
	}
}
