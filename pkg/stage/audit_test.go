package stage_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
)

// loggingManifests are those of the operator that testdata/audit.log is of, and of which somebody has tried to read Secrets.
const loggingManifests = `
{kind: Deployment, apiVersion: apps/v1, metadata: {name: app, namespace: memcached-operator-system}, spec: {template: {spec: {serviceAccountName: memcached-operator-controller-manager}}}}
---
kind: ClusterRole
apiVersion: rbac.authorization.k8s.io/v1
metadata: {name: manager}
rules:
- {apiGroups: [apps], resources: [deployments], verbs: [get, list, watch, create, update, delete]}
- {apiGroups: [""], resources: [pods], verbs: ["*"]}
- {apiGroups: [cache.example.com], resources: [memcacheds, memcacheds/status], verbs: [get, list, watch, update]}
- {apiGroups: [events.k8s.io], resources: [events], verbs: [create, patch]}
---
{kind: ClusterRoleBinding, apiVersion: rbac.authorization.k8s.io/v1, metadata: {name: manager}, roleRef: {kind: ClusterRole, name: manager},
 subjects: [{kind: ServiceAccount, name: memcached-operator-controller-manager, namespace: memcached-operator-system}]}
`

// TestUseAuditLog reads a part of the log that kube-apiserver wrote about the memcached operator, also where the operator runs in another
// namespace.
func TestUseAuditLog(t *testing.T) {
	t.Parallel()
	objects, err := kube.Decode([]byte(loggingManifests))
	if err != nil {
		t.Fatal(err)
	}
	for _, namespace := range []string{"", "default"} {
		p, err := stage.PermissionsOf(objects, namespace)
		if err != nil {
			t.Fatal(err)
		}
		g, err := p.Grants()
		if err != nil {
			t.Fatal(err)
		}
		log, err := os.Open("testdata/audit.log")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = log.Close() }() // it was read
		if err := g.UseAudit("audit.log", log); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, rule := range g.Rules() {
			for _, part := range [][]stage.Permission{rule.Used(), rule.Unused()} {
				var texts []string
				for _, p := range part {
					texts = append(texts, p.String())
				}
				got = append(got, strings.Join(texts, "; "))
			}
		}
		want := []string{
			"create, update, get, list, watch deployments.apps", "delete deployments.apps", "get, list, watch pods", "",
			"get, list, watch memcacheds.cache.example.com; update memcacheds.cache.example.com/status", "update memcacheds.cache.example.com; get, list, watch memcacheds.cache.example.com/status",
			"create events.events.k8s.io", "patch events.events.k8s.io",
		}
		if !slices.Equal(got, want) {
			t.Errorf("namespace %q: got\n%s\nwant\n%s", namespace, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		denied := g.Denied()
		if len(denied) != 1 || denied[0].Request.String() != "list secrets default/" {
			t.Errorf("denied %v", denied)
		}
	}
}

// TestUnder checks what is known of permissions after the rules have changed.
func TestUnder(t *testing.T) {
	t.Parallel()
	g := grants(t, grantingManifests)
	g.Use(used("get /secrets a/one"))
	g.Use(used("list /secrets a/ fieldSelector=metadata.name%3Done"))
	g.Use(used("get /debug/x"))
	under := func(from, to string) (*stage.Grants, error) {
		objects, err := kube.Decode([]byte(strings.Replace(grantingManifests, from, to, 1)))
		if err != nil {
			t.Fatal(err)
		}
		p, err := stage.PermissionsOf(objects, "")
		if err != nil {
			t.Fatal(err)
		}
		return g.Under(p)
	}
	next, err := under("[get, list, create]", "[get, list, delete]")
	if err != nil {
		t.Fatal(err)
	}
	if got := next.Rules()[1].Unused(); len(got) != 1 || got[0].String() != "delete secrets" {
		t.Errorf("unused %v", got)
	}
	for from, to := range map[string]string{"[get, list, create]": "[get]", "resourceNames: [one]": "resourceNames: [two]", `"/debug/*"`: "/debug"} {
		if _, err := under(from, to); err == nil || !strings.HasPrefix(err.Error(), "the operator has used what would be forbidden: ") {
			t.Errorf("%s instead of %s: %v", to, from, err)
		}
	}
	of := g.Of(stage.Rule{APIGroups: []string{"*"}, Resources: []string{"secrets", "pods"}, Verbs: []string{"get", "delete"}})
	if used := of.Used(); len(used) != 1 || used[0].String() != "get, list, watch secrets" {
		t.Errorf("used %v", used)
	}
}

// used returns a request that was permitted.
func used(text string) gateway.Record {
	return gateway.Record{Request: asRequest(text), ServerCode: 200}
}
