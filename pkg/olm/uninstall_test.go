package olm

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/kube"
)

// operators are what users have in a cluster with OLM: an operator with a finalizer on its resources, one of which is in a
// namespace that goes with OLM, and what OLM made for it.
const operators = `
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: mails.example.com},
spec: {group: example.com, scope: Namespaced, names: {plural: mails, kind: Mail}, versions: [{name: v1, served: true, storage: true}]}}
---
{apiVersion: example.com/v1, kind: Mail, metadata: {name: here, namespace: operators, finalizers: [example.com/post]}}
---
{apiVersion: example.com/v1, kind: Mail, metadata: {name: there, namespace: team}}
---
{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: post.v1, namespace: team},
spec: {customresourcedefinitions: {owned: [{name: mails.example.com, kind: Mail, version: v1}, {name: mails.example.com, kind: Mail, version: v1}]}}}
---
{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: post.v1, namespace: other, labels: {olm.copiedFrom: team}}}
---
{apiVersion: operators.coreos.com/v1alpha1, kind: Subscription, metadata: {name: post, namespace: team}}
---
{apiVersion: operators.coreos.com/v1alpha1, kind: CatalogSource, metadata: {name: mine, namespace: team}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: notes, namespace: operators}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: kube-root-ca.crt, namespace: operators}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: operators}}
---
{apiVersion: v1, kind: Secret, metadata: {name: token, namespace: operators, annotations: {kubernetes.io/service-account.name: default}}}
---
{apiVersion: v1, kind: Secret, metadata: {name: cert, namespace: operators, labels: {olm.managed: "true"}}}
---
{apiVersion: v1, kind: Secret, metadata: {name: owned, namespace: operators, ownerReferences: [{kind: Mail, name: here}]}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: team, labels: {mine: "1", olm.operatorgroup.uid/x: ""}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: post.v1-x, labels: {olm.owner: post.v1}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: users}}
---
{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.post.example.com, labels: {olm.owner: post.v1}}}
---
{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.apps}}
`

// TestUninstall lists what users lose, removes OLM in the right order, and keeps everything else.
func TestUninstall(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.settle = c.runOLM
	c.install(t)
	c.add(t, operators)
	found := c.found(t, DefaultNamespace)
	if found.Version != DefaultVersion || !found.Present {
		t.Fatalf("found %+v", found)
	}
	data, err := Inventory(t.Context(), c.client, found)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"operator team/post.v1 will be deleted with its deployments and permissions",
		"  mails.example.com: 1 will be deleted with their namespace: operators/here",
		"  mails.example.com: 1 will be kept without an operator: team/there",
		"subscription team/post will be deleted",
		"catalog team/mine will be deleted",
		"configmap operators/notes will be deleted with its namespace",
	}
	if lines := data.Lines(); !slices.Equal(lines, want) || data.Empty() {
		t.Errorf("users lose\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}

	c.changes = nil
	reporter, messages := recorder()
	if err := Uninstall(deadline(t), UninstallOptions{Client: c.client, Found: found, Data: data, Grace: time.Millisecond, Reporter: reporter}); err != nil {
		t.Fatal(err)
	}
	want = []string{
		"clusterrole users", "customresourcedefinition mails.example.com", "mail team/there", "namespace team", "apiservice v1.apps",
	}
	slices.Sort(want)
	if left := c.names(); !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
	if labels := c.live("Namespace", "", "team").GetLabels(); len(labels) != 1 || labels["mine"] != "1" {
		t.Errorf("labels of the namespace: %v", labels)
	}
	if !slices.Contains(*messages, "removing the finalizer example.com/post of mail operators/here, which its controller does not remove") {
		t.Errorf("messages: %q", *messages)
	}
	order := []string{
		"DELETE /apis/operators.coreos.com/v1alpha1/namespaces/team/subscriptions/post",
		"DELETE /apis/example.com/v1/namespaces/operators/mails/here",
		"DELETE /apis/operators.coreos.com/v1alpha1/namespaces/team/clusterserviceversions/post.v1",
		"DELETE /apis/apiregistration.k8s.io/v1/apiservices/" + packagesAPI,
		"DELETE /apis/apps/v1/namespaces/olm/deployments/olm-operator",
		"DELETE /apis/rbac.authorization.k8s.io/v1/clusterroles/post.v1-x",
		"DELETE /api/v1/namespaces/olm",
		"DELETE /apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusterserviceversions.operators.coreos.com",
		"DELETE /apis/rbac.authorization.k8s.io/v1/clusterroles/" + clusterRole,
	}
	at := -1
	for _, step := range order {
		i := slices.Index(c.changes, step)
		if i <= at {
			t.Errorf("%s is change %d, after %d", step, i, at)
		}
		at = i
	}
	if c.changes[len(c.changes)-1] != order[len(order)-1] {
		t.Errorf("the last change is %s", c.changes[len(c.changes)-1])
	}
}

// TestUninstallElsewhere refuses to remove OLM from a namespace where it is not.
func TestUninstallElsewhere(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	err := Uninstall(t.Context(), UninstallOptions{Client: c.client, Found: &Installation{Namespace: "olm", otherNamespace: "platform"}, Data: &UserData{}})
	if err == nil || len(c.changes) > 0 {
		t.Errorf("got %v, changes %v", err, c.changes)
	}
}

// TestUninstallStuck names what keeps a namespace, a definition or another object when the time is up.
func TestUninstallStuck(t *testing.T) {
	t.Parallel()
	const stuckDefinition = `
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.operators.coreos.com, finalizers: [customresourcecleanup.apiextensions.k8s.io]},
spec: {group: operators.coreos.com, scope: Cluster, names: {plural: things, kind: Thing}, versions: [{name: v1, served: true, storage: true}]},
status: {conditions: [{type: Terminating, status: "True", message: instances remain}]}}`
	for name, row := range map[string]struct{ present, want string }{
		"namespace": {`
{apiVersion: v1, kind: Namespace, metadata: {name: olm, finalizers: [kubernetes]}, status: {conditions: [{type: NamespaceDeletionDiscoveryFailure, status: "True", message: no metrics}, {type: NamespaceOther, status: "False", message: fine}]}}
---
{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.metrics}, status: {conditions: [{type: Available, status: "False", reason: Gone, message: away}]}}
---
{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.apps}, status: {conditions: [{type: Available, status: "True"}]}}`,
			`namespace olm was not deleted: time is up
  NamespaceDeletionDiscoveryFailure: no metrics
  its finalizer kubernetes is not removed; remove it with 'kubectl edit' of the namespace
  apiservice v1.metrics is not available (Gone: away), which prevents the deletion of all namespaces: repair its pods, or 'kubectl delete apiservice v1.metrics'; uninstall again to continue`},
		"definition": {stuckDefinition, `customresourcedefinition things.operators.coreos.com was not deleted: time is up
  Terminating: instances remain
  no resources of it remain; uninstall again to continue`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			c.add(t, row.present)
			found := c.found(t, DefaultNamespace)
			ctx, reporter := untilWaiting(t, "waiting for the deletion of ")
			err := Uninstall(ctx, UninstallOptions{Client: c.client, Found: found, Data: &UserData{}, Reporter: reporter})
			if err == nil || err.Error() != row.want {
				t.Errorf("got\n%v\nwant\n%s", err, row.want)
			}
			if name == "definition" && c.live(kube.CRDKind, "", "things.operators.coreos.com").GetAnnotations()[removalNote] != "true" {
				t.Error("the definition was not changed, so its controller does not look again")
			}
		})
	}
}

// TestRemaining describes what a definition waits for.
func TestRemaining(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.add(t, `
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com, finalizers: [customresourcecleanup.apiextensions.k8s.io, mine]},
spec: {group: example.com, scope: Cluster, names: {plural: things, kind: Thing}, versions: [{name: v1, served: true, storage: true}]}}`)
	crd := c.live(kube.CRDKind, "", "things.example.com")
	for i, finalizers := range []string{"", ", finalizers: [a, b]", "", "", "", "", ""} {
		c.add(t, "{apiVersion: example.com/v1, kind: Thing, metadata: {name: t"+string(rune('0'+i))+finalizers+"}}")
	}
	want := "  remaining resources: t0, t1 (finalizers a, b), t2, t3, t4 and 2 more\n  its finalizer mine is not removed; remove it with 'kubectl edit' of the customresourcedefinition"
	ended, cancel := context.WithCancel(t.Context())
	cancel() // the search for causes begins when the time is up
	if got := Remaining(ended, c.client, crd).Error(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c.refuse = func(r *http.Request) (int, string) {
		if strings.HasSuffix(r.URL.Path, "/things") {
			return http.StatusForbidden, "no"
		}
		return 0, ""
	}
	if got := Remaining(t.Context(), c.client, crd).Error(); !strings.HasPrefix(got, "  cannot list its resources: listing things: no\n") {
		t.Errorf("got %q", got)
	}
	if got := Remaining(t.Context(), c.client, kube.Named("v1", "Secret", "a", "b")); got != nil {
		t.Errorf("a missing object: got %q", got)
	}
}

// TestRemoveLate removes the finalizer of a resource that is marked for deletion only after finalizers were removed once.
func TestRemoveLate(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.add(t, `
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com, finalizers: [cleanup]},
spec: {group: example.com, scope: Cluster, names: {plural: things, kind: Thing}, versions: [{name: v1, served: true, storage: true}]}}
---
{apiVersion: example.com/v1, kind: Thing, metadata: {name: first, finalizers: [mine]}}`)
	crd := c.live(kube.CRDKind, "", "things.example.com")
	late, err := kube.Decode([]byte("{apiVersion: example.com/v1, kind: Thing, metadata: {name: second, finalizers: [mine]}}"))
	if err != nil {
		t.Fatal(err)
	}
	c.refuse = func(r *http.Request) (int, string) {
		if r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/things/first") {
			c.put(late[0])
		}
		if len(c.objects) == 1 { // Kubernetes removes its finalizer of a definition without resources
			for _, o := range c.objects {
				o.SetFinalizers(nil)
			}
			c.collect()
		}
		return 0, ""
	}
	reporter, _ := recorder()
	r := &removal{UninstallOptions: UninstallOptions{Client: c.client, Reporter: reporter}}
	if err := r.remove(deadline(t), []*kube.Object{crd}, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if left := c.names(); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	if !slices.Contains(c.changes, "PATCH /apis/example.com/v1/things/second") {
		t.Errorf("the finalizer of the late resource was not removed: %q", c.changes)
	}
}

// TestFreeNamespace removes finalizers of what is being deleted, and pods only when their nodes had time.
func TestFreeNamespace(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.add(t, `
{apiVersion: v1, kind: Pod, metadata: {name: dead, namespace: olm, uid: u, deletionTimestamp: "2026-01-01T00:00:00Z"}}
---
{apiVersion: v1, kind: Pod, metadata: {name: alive, namespace: olm}}
---
{apiVersion: v1, kind: Secret, metadata: {name: held, namespace: olm, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [mine]}}
---
{apiVersion: v1, kind: Secret, metadata: {name: kept, namespace: olm, finalizers: [mine]}}`)
	r := &removal{UninstallOptions: UninstallOptions{Client: c.client}}
	if err := r.freeNamespace(t.Context(), "olm", false); err != nil || !slices.Equal(c.changes, []string{"PATCH /api/v1/namespaces/olm/secrets/held"}) {
		t.Errorf("at once: %v, %v", err, c.changes)
	}
	c.changes = nil
	c.add(t, `{apiVersion: v1, kind: Pod, metadata: {name: dead, namespace: olm, uid: u, deletionTimestamp: "2026-01-01T00:00:00Z"}}`)
	if err := r.freeNamespace(t.Context(), "olm", true); err != nil || !slices.Equal(c.changes, []string{"DELETE /api/v1/namespaces/olm/pods/dead"}) {
		t.Errorf("later: %v, %v", err, c.changes)
	}
	if left := c.names(); !slices.Equal(left, []string{"pod olm/alive", "secret olm/kept"}) {
		t.Errorf("left: %q", left)
	}
}
