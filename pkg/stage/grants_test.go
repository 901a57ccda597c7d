package stage_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
)

const grantingManifests = `
{kind: Deployment, apiVersion: apps/v1, metadata: {name: app, namespace: app-system}, spec: {template: {spec: {serviceAccountName: manager}}}}
---
kind: ClusterRole
apiVersion: rbac.authorization.k8s.io/v1
metadata: {name: manager}
rules:
- {apiGroups: [apps], resources: [deployments, deployments/scale], verbs: [get, list, watch, create, delete]}
- {apiGroups: [""], resources: [secrets], resourceNames: [one], verbs: [get, list, create]}
- {nonResourceURLs: [/metrics, "/debug/*"], verbs: [get]}
- {apiGroups: [batch], resources: ["*/status"], verbs: [update]}
- {apiGroups: ["*"], resources: [pods], verbs: ["*"]}
---
{kind: ClusterRoleBinding, apiVersion: rbac.authorization.k8s.io/v1, metadata: {name: manager}, roleRef: {kind: ClusterRole, name: manager},
 subjects: [{kind: ServiceAccount, name: manager, namespace: app-system}]}
---
{kind: Role, apiVersion: rbac.authorization.k8s.io/v1, metadata: {name: leader, namespace: app-system}, rules: [{apiGroups: [""], resources: [configmaps], verbs: [update, escalate]}]}
---
{kind: RoleBinding, apiVersion: rbac.authorization.k8s.io/v1, metadata: {name: leader, namespace: app-system}, roleRef: {kind: Role, name: leader},
 subjects: [{kind: Group, name: "system:serviceaccounts:app-system"}]}
---
{kind: ClusterRole, apiVersion: rbac.authorization.k8s.io/v1, metadata: {name: user}, rules: [{apiGroups: [""], resources: [services], verbs: [get]}]}
---
{kind: ClusterRoleBinding, apiVersion: rbac.authorization.k8s.io/v1, metadata: {name: user}, roleRef: {kind: ClusterRole, name: user},
 subjects: [{kind: ServiceAccount, name: manager, namespace: other}, {kind: User, name: manager}]}
`

func grants(t *testing.T, manifests string) *stage.Grants {
	t.Helper()
	objects, err := kube.Decode([]byte(manifests))
	if err != nil {
		t.Fatal(err)
	}
	p, err := stage.PermissionsOf(objects, "")
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grants()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// asRequest returns the request of "VERB GROUP/RESOURCE/SUBRESOURCE NAMESPACE/NAME QUERY", or "VERB PATH".
func asRequest(text string) gateway.Request {
	fields := append(strings.Fields(text), "", "")
	r := gateway.Request{Verb: fields[0], Path: fields[1], Query: fields[3]}
	if strings.HasPrefix(r.Path, "/") && fields[2] == "" {
		return r
	}
	resource := strings.Split(fields[1]+"/", "/")
	r.Group, r.Resource, r.Subresource = resource[0], resource[1], resource[2]
	r.Namespace, r.Name, _ = strings.Cut(fields[2], "/")
	return r
}

func TestPermits(t *testing.T) {
	t.Parallel()
	g := grants(t, grantingManifests)
	for text, want := range map[string]bool{
		"get apps/deployments a/one": true, "update apps/deployments a/one": false, "get extensions/deployments a/one": false,
		"get apps/deployments/scale a/one": true, "get apps/deployments/status a/one": false,
		"get /secrets a/one": true, "get /secrets a/two": false, "list /secrets a/": false,
		"list /secrets a/ fieldSelector=metadata.name%3Done": true, "list /secrets a/ fieldSelector=type%3Done": false,
		"create /secrets a/one": false, // its name is in the body
		"get /metrics":          true, "get /debug/x": true, "get /": false, "post /metrics": false,
		"update batch/jobs/status a/one": true, "update batch/jobs a/one": false,
		"delete any.io/pods a/one": true, "delete any.io/nodes a/one": false,
		"update /configmaps app-system/one": true, "update /configmaps a/one": false,
		"get /services a/one": false,
	} {
		if got := g.Permits(asRequest(text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestClusterAdmin(t *testing.T) {
	t.Parallel()
	text := strings.Replace(grantingManifests, "{kind: ClusterRole, name: user}", "{kind: ClusterRole, name: cluster-admin}", 1)
	g := grants(t, strings.Replace(text, "name: manager, namespace: other", "name: manager, namespace: app-system", 1))
	for _, text := range []string{"delete /nodes /one", "get /healthz"} {
		if !g.Permits(asRequest(text)) {
			t.Errorf("%s isn't permitted", text)
		}
	}
}

// TestUse checks what is used of each rule, and what isn't.
func TestUse(t *testing.T) {
	t.Parallel()
	g := grants(t, grantingManifests)
	for _, text := range []string{
		"list apps/deployments", "get /metrics", "patch /pods a/one", "delete any.io/pods a/one", "update batch/jobs/status a/one", "get /nodes /one",
	} {
		g.Use(gateway.Record{Request: asRequest(text), ServerCode: 200})
	}
	g.Use(gateway.Record{Request: asRequest("patch apps/deployments a/one"), ServerCode: 201}) // an apply that creates
	g.Use(gateway.Record{
		Request: asRequest("update /configmaps app-system/one"), ServerCode: 403, Message: `User "x" cannot update resource "configmaps" in API group "" in the namespace "app-system"`,
	})
	role, err := kube.Decode([]byte(`{kind: Role, apiVersion: rbac.authorization.k8s.io/v1, metadata: {name: x, namespace: a}, rules: [{apiGroups: [apps], resources: [deployments/scale], verbs: [get]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	g.UseRole(role[0])
	want := []string{
		"ClusterRole manager 0 []: used [create, get, list, watch deployments.apps get, list, watch deployments.apps/scale] unused [delete deployments.apps create, delete deployments.apps/scale]",
		"ClusterRole manager 1 []: used [] unused [get, list, create secrets]",
		"ClusterRole manager 2 []: used [get /metrics] unused []",
		"ClusterRole manager 3 [resources]: used [update jobs.batch/status] unused []",
		"ClusterRole manager 4 [apiGroups verbs]: used [patch pods delete pods.any.io] unused []",
		"Role leader 0 []: used [] unused [update configmaps]",
	}
	var got []string
	for _, rule := range g.Rules() {
		got = append(got, fmt.Sprintf("%s %d %s: used %s unused %s", rule.Role, rule.Index, rule.Wildcards(), rule.Used(), rule.Unused()))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
