package stage_test

import (
	"slices"
	"testing"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/stage"
)

func TestEscalationOf(t *testing.T) {
	t.Parallel()
	const refused = `clusterroles.rbac.authorization.k8s.io "a" is forbidden: user "system:serviceaccount:a:b" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:[""], Resources:["pods" "pods/log"], Verbs:["update" "patch"]}
{APIGroups:["apps"], Resources:["deployments"], ResourceNames:["one"], Verbs:["get"]}
{NonResourceURLs:["/metrics"], Verbs:["get"]}; resolution errors: [clusterroles.rbac.authorization.k8s.io "x" not found]`
	var got []string
	for _, p := range stage.EscalationOf(gateway.Record{ServerCode: 403, Message: refused}) {
		got = append(got, p.String())
	}
	if want := []string{"update, patch pods", "update, patch pods/log", "get deployments.apps", "get /metrics"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for name, r := range map[string]gateway.Record{
		"a missing permission":       {ServerCode: 403, Message: `roles is forbidden: User "a" cannot create resource "roles" in API group ""`},
		"an answer without a denial": {ServerCode: 422, Message: refused},
	} {
		if p := stage.EscalationOf(r); p != nil {
			t.Errorf("%s: %v", name, p)
		}
	}
}
