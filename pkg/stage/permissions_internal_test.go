package stage

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/kube"
)

const manifests = `kind: Namespace
apiVersion: v1
metadata: {name: app-system}
---
{kind: ServiceAccount, apiVersion: v1, metadata: {name: app-manager, namespace: app-system}}
---
{kind: Role, apiVersion: rbac.authorization.k8s.io/v1, metadata: {name: leader, namespace: app-system}}
---
{kind: Role, apiVersion: rbac.authorization.k8s.io/v1, metadata: {name: infra, namespace: infra}}
---
{kind: ClusterRole, apiVersion: rbac.authorization.k8s.io/v1, metadata: {name: manager}}
---
{kind: RoleBinding, apiVersion: rbac.authorization.k8s.io/v1, metadata: {name: leader, namespace: app-system},
 subjects: [{kind: ServiceAccount, name: app-manager, namespace: app-system}, {kind: User, name: app-system}]}
---
{kind: ClusterRoleBinding, apiVersion: rbac.authorization.k8s.io/v1, metadata: {name: manager},
 subjects: [{kind: ServiceAccount, name: app-manager, namespace: app-system}, {kind: ServiceAccount, name: x, namespace: other}]}
---
{kind: Deployment, apiVersion: apps/v1, metadata: {name: app, namespace: app-system}, spec: {template: {spec: {serviceAccountName: app-manager}}}}
---
{kind: Service, apiVersion: v1, metadata: {name: metrics, namespace: app-system}}
`

func TestPermissionsOf(t *testing.T) {
	t.Parallel()
	decode := func(text string) []*kube.Object {
		objects, err := kube.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return objects
	}
	for namespace, want := range map[string]string{
		"": `app-system/app-manager: Namespace app-system, ServiceAccount app-system/app-manager, Role app-system/leader, Namespace infra, Role infra/infra, ClusterRole manager, ` +
			`RoleBinding app-system/leader app-system "", ClusterRoleBinding manager app-system other`,
		"default": `default/app-manager: Namespace default, ServiceAccount default/app-manager, Role default/leader, Namespace infra, Role infra/infra, ClusterRole manager, ` +
			`RoleBinding default/leader default "", ClusterRoleBinding manager default other`,
	} {
		p, err := PermissionsOf(decode(manifests), namespace)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, o := range p.objects {
			name := o.GetKind() + " " + strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/")
			for _, subject := range kube.ListAt(o.Object, "subjects") {
				name += " " + cmp.Or(kube.StringAt(subject, "namespace"), `""`)
			}
			names = append(names, name)
		}
		if got := p.Namespace + "/" + p.ServiceAccount + ": " + strings.Join(names, ", "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if _, err := PermissionsOf(slices.DeleteFunc(decode(manifests), func(o *kube.Object) bool { return o.GetKind() == "Deployment" }), ""); err == nil {
		t.Error("no error without a Deployment")
	}
}
