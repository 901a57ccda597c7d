package rbac

import (
	"reflect"
	"testing"
)

// A Role gets no rules for cluster-scoped objects, apart from verbs that Kubernetes checks in a namespace. A finding lists the others.
func TestForRole(t *testing.T) {
	t.Parallel()
	rules := Permissions{}
	rules.Grant("", []string{"nodes", "persistentvolumes", "namespaces"}, "get", "list")
	rules.Grant("", []string{"configmaps", "pods/log"}, "get")
	rules.Grant("example.com", []string{"widgets", "widgets/status"}, "get")
	rules.Grant("oauth.openshift.io", []string{"oauthclients"}, "create")
	rules.Grant("route.openshift.io", []string{"routes"}, "create")
	rules.Grant("rbac.authorization.k8s.io", []string{"clusterroles"}, "bind", "create")
	rules.Grant("security.openshift.io", []string{"securitycontextconstraints"}, "use")
	rules.Add(Target{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions", Name: "widgets.example.com"}, "get")
	rules.Add(Target{URL: "/metrics"}, "get")
	kept := Permissions{}
	kept.Grant("", []string{"configmaps", "pods/log", "namespaces"}, "get")
	kept.Grant("example.com", []string{"widgets", "widgets/status"}, "get")
	kept.Grant("route.openshift.io", []string{"routes"}, "create")
	kept.Grant("rbac.authorization.k8s.io", []string{"clusterroles"}, "bind")
	kept.Grant("security.openshift.io", []string{"securitycontextconstraints"}, "use")
	got, findings := ForRole("role.yaml", []byte("kind: Role\nmetadata:\n  name: manager-role\nrules: []\n"), rules.Rules(), "the charts")
	if !reflect.DeepEqual(got, kept.Rules()) {
		t.Errorf("got\n%v\nwant\n%v", got, kept.Rules())
	}
	const want = "role.yaml:4: a Role can't grant the permissions on cluster-scoped objects that the charts need: namespaces (list), nodes (get, list), " +
		"persistentvolumes (get, list), customresourcedefinitions.apiextensions.k8s.io widgets.example.com (get), oauthclients.oauth.openshift.io (create), " +
		"clusterroles.rbac.authorization.k8s.io (create), /metrics (get); grant them with a ClusterRole and a ClusterRoleBinding"
	if findings.Error() != want {
		t.Errorf("got %v, want %s", findings, want)
	}
	for _, text := range []string{"kind: ClusterRole\nrules: []\n", "kind: Role\nrules: []\n---\nkind: ClusterRole\nmetadata: {name: manager-role}\nrules: []\n", "a: ["} {
		if got, findings := ForRole("role.yaml", []byte(text), rules.Rules(), "the charts"); len(findings) > 0 || !reflect.DeepEqual(got, rules.Rules()) {
			t.Errorf("%s: got %v, %v", text, got, findings)
		}
	}
	namespaced := []Rule{{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"get"}}}
	if got, findings := ForRole("role.yaml", []byte("kind: Role\nrules: []\n"), namespaced, "the charts"); len(findings) > 0 || !reflect.DeepEqual(got, namespaced) {
		t.Errorf("got %v, %v", got, findings)
	}
}
