package release

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestOwnership deploys objects that cannot have an owner reference to the custom resource.
func TestOwnership(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	other := e.namespace + "-other"
	e.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: " + other + "}")
	files := `
-- templates/all.yaml --
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: {{ .Release.Namespace }}}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: away, namespace: {{ .Release.Namespace }}-other}
data: {v: "1"}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: near
  namespace: {{ .Release.Namespace }}
  ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: kept
  annotations: {helm.sh/resource-policy: {{ .Values.policy }}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`
	chart := e.chart(files)
	keep := e.release(chart, values("policy", "keep"))
	deployed := e.install(keep)
	e.settled(keep)
	byName := map[string]Object{}
	for _, object := range deployed.Objects {
		byName[object.Name] = object
	}
	if role := byName[e.namespace]; role.Namespaced || role.Namespace != "" {
		t.Errorf("%+v", role)
	}
	if away := byName["away"]; !away.Namespaced || away.Namespace != other {
		t.Errorf("%+v", away)
	}
	if !byName["kept"].Keep || byName["near"].Keep {
		t.Errorf("%+v", byName)
	}
	annotated := []string{"rbac.authorization.k8s.io/v1 ClusterRole " + e.namespace, "v1 ConfigMap " + other + "/away", "v1 PersistentVolumeClaim kept"}
	for _, reference := range annotated {
		live := e.must(reference)
		annotations := live.GetAnnotations()
		if annotations[OwnerAnnotation] != e.namespace+"/web" || annotations[OwnerTypeAnnotation] != "Widget.example.com" || len(live.GetOwnerReferences()) > 0 {
			t.Errorf("%s: %v %v", reference, annotations, live.GetOwnerReferences())
		}
	}
	if owners := e.must("v1 ConfigMap near").GetOwnerReferences(); len(owners) != 1 || owners[0].UID != e.owner.GetUID() {
		t.Errorf("owners %v", owners)
	}
	e.update(annotated[1], func(o *unstructured.Unstructured) { _ = unstructured.SetNestedField(o.Object, "2", "data", "v") })
	e.remove(annotated[0])
	if repaired := e.repair(keep); len(repaired) != 2 {
		t.Errorf("repaired %v", repaired)
	}
	e.settled(keep)

	// An object that loses and gains the policy changes its kind of ownership.
	drop := e.release(chart, values("policy", "none"))
	e.upgrade(drop)
	live := e.must("v1 PersistentVolumeClaim kept")
	if len(live.GetOwnerReferences()) != 1 || live.GetAnnotations()[OwnerAnnotation] != "" {
		t.Errorf("%v %v", live.GetOwnerReferences(), live.GetAnnotations())
	}
	keep = e.release(chart, values("policy", "keep"))
	e.upgrade(keep)
	if owners := e.must("v1 PersistentVolumeClaim kept").GetOwnerReferences(); len(owners) != 0 {
		t.Errorf("owners %v", owners)
	}
	e.settled(keep)

	removal := e.uninstall(nil)
	if len(removal.Kept) != 1 || removal.Kept[0].Name != "kept" {
		t.Errorf("kept %v", removal.Kept)
	}
	e.must("v1 PersistentVolumeClaim kept")
	for _, reference := range append(annotated[:2], "v1 ConfigMap near") {
		e.mustNot(reference)
	}
}

// TestHooks runs hooks, whose objects belong to the custom resource, and deletes them at the end.
func TestHooks(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	hook := func(event, name, more string) string {
		return "-- templates/" + name + ".yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name +
			"\n  annotations: {helm.sh/hook: " + event + more + "}\n"
	}
	chart := e.chart(hook("pre-install", "before", "") + hook("post-upgrade", "after", "") +
		hook("pre-install", "deleted", ", helm.sh/hook-delete-policy: hook-succeeded") + hook("test", "test", "") + `
-- templates/role.yaml --
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: hook-{{ .Release.Namespace }}, annotations: {helm.sh/hook: pre-install}}
-- templates/c.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {v: {{ .Values.v | quote }}}
-- templates/failing.yaml --
{{- if .Values.fail }}
apiVersion: batch/v1
kind: Job
metadata: {name: failing, annotations: {helm.sh/hook: pre-upgrade}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: "example.com/c:1"}]}}}
{{- end }}
`)
	first := e.release(chart, values("v", "1"))
	e.install(first)
	e.settled(first)
	if owners := e.must("v1 ConfigMap before").GetOwnerReferences(); len(owners) != 1 || owners[0].UID != e.owner.GetUID() {
		t.Errorf("owners %v", owners)
	}
	e.must("rbac.authorization.k8s.io/v1 ClusterRole hook-" + e.namespace)
	for _, name := range []string{"after", "deleted", "test"} {
		e.mustNot("v1 ConfigMap " + name)
	}
	second := e.release(chart, values("v", "2"))
	e.upgrade(second)
	e.must("v1 ConfigMap after")
	// Nothing runs the Job: the hook fails after its time.
	failing := e.release(chart, values("v", "3", "fail", true))
	e.plan(failing, Upgrade)
	if _, err := failing.Upgrade(t.Context(), UpgradeOptions{}); err == nil || !strings.Contains(err.Error(), "pre-upgrade hooks failed") {
		t.Errorf("error %v", err)
	}
	e.settled(second)
	e.requests.take("")
	e.uninstall(nil)
	// The role of an operator need not permit the objects of tests, which it does not create.
	if requests := e.requests.take("/configmaps/test"); len(requests) > 0 {
		t.Errorf("the removal requests the object of a test: %s", requests)
	}
	for _, name := range []string{"before", "after", "c"} {
		e.mustNot("v1 ConfigMap " + name)
	}
	e.mustNot("batch/v1 Job failing")
	e.mustNot("rbac.authorization.k8s.io/v1 ClusterRole hook-" + e.namespace)
}

// gadgetCRD is a CRD of a chart.
const gadgetCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: PLURAL.gadgets.example.com}
spec:
  group: gadgets.example.com
  scope: Namespaced
  names: {plural: PLURAL, singular: SINGULAR, kind: KIND}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, default: 1}
              list: {type: array, items: {type: object, properties: {name: {type: string}, port: {type: integer, default: 80}}}}
`

func gadget(kind string) string {
	return strings.NewReplacer("PLURAL", strings.ToLower(kind)+"s", "SINGULAR", strings.ToLower(kind), "KIND", kind).Replace(gadgetCRD)
}

// TestChartCRDs installs the CRDs of a chart before its objects, also CRDs that an upgrade adds, and does not own them.
func TestChartCRDs(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	object := func(kind string) string {
		return "-- templates/" + kind + ".yaml --\napiVersion: gadgets.example.com/v1\nkind: " + kind +
			"\nmetadata: {name: g}\nspec: {list: [{name: a}], text: {{ .Capabilities.APIVersions.Has \"gadgets.example.com/v1/" + kind + "\" | quote }}}\n"
	}
	files := "-- crds/a.yaml --\n" + gadget("Alpha") + object("Alpha")
	release := e.release(e.chart(files), nil)
	e.install(release)
	e.settled(release)
	if port := e.field("gadgets.example.com/v1 Alpha g", "spec", "list"); port != "[map[name:a port:80]]" {
		t.Errorf("list %s", port)
	}
	crd := e.must("apiextensions.k8s.io/v1 CustomResourceDefinition alphas.gadgets.example.com")
	if len(crd.GetOwnerReferences())+len(crd.GetAnnotations())+len(crd.GetLabels()) > 0 {
		t.Errorf("CRD metadata: %v", crd.Object["metadata"])
	}
	e.update("gadgets.example.com/v1 Alpha g", func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(o.Object, int64(5), "spec", "size") // not in the manifest
		_ = unstructured.SetNestedSlice(o.Object, []any{map[string]any{"name": "b"}}, "spec", "list")
	})
	if repaired := e.repair(release); len(repaired) != 1 {
		t.Errorf("repaired %v", repaired)
	}
	if e.field("gadgets.example.com/v1 Alpha g", "spec", "list") != "[map[name:a port:80]]" || e.field("gadgets.example.com/v1 Alpha g", "spec", "size") != "5" {
		t.Errorf("%v", e.must("gadgets.example.com/v1 Alpha g").Object["spec"])
	}
	more := e.release(e.chart(files+"-- crds/b.yaml --\n"+gadget("Beta")+object("Beta")), nil)
	e.upgrade(more)
	e.settled(more)
	e.uninstall(nil)
	e.mustNot("gadgets.example.com/v1 Alpha g")
	e.must("apiextensions.k8s.io/v1 CustomResourceDefinition alphas.gadgets.example.com")
}

// TestMissingCRD names the kind that the cluster does not serve, before and after the installation.
func TestMissingCRD(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(`
-- templates/all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {v: {{ .Values.v | quote }}}
---
apiVersion: gadgets.example.com/v1
kind: Gamma
metadata: {name: g}
`)
	release := e.release(chart, nil)
	if _, err := release.Install(t.Context()); err == nil || !strings.Contains(err.Error(), `Gamma/g: no matches for kind "Gamma"`) {
		t.Fatalf("error %v", err)
	}
	e.mustNot("v1 ConfigMap c")
	e.apply(gadget("Gamma"))
	e.waitServed("gadgets.example.com/v1", "Gamma")
	e.install(release)
	e.settled(release)

	e.remove("apiextensions.k8s.io/v1 CustomResourceDefinition gammas.gadgets.example.com")
	e.eventually("the CRD is gone", func() bool {
		return e.find("apiextensions.k8s.io/v1 CustomResourceDefinition gammas.gadgets.example.com") == nil
	})
	if _, _, err := release.Repair(t.Context()); err == nil || !strings.Contains(err.Error(), "repair Gamma/") {
		t.Errorf("error %v", err)
	}
	e.connect()
	removal := e.uninstall(nil)
	if len(removal.Unserved) != 1 || removal.Unserved[0].Kind != "Gamma" {
		t.Errorf("removal %+v", removal)
	}
	e.mustNot("v1 ConfigMap c")
}
