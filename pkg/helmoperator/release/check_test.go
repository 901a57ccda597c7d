package release

import (
	"net/http"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/rest"
)

// check checks an action and that nothing is written.
func (e *env) check(r *Release, action Action, o UpgradeOptions) error {
	e.Helper()
	e.requests.take("")
	err := r.Check(e.Context(), action, o)
	for _, request := range e.requests.take("") {
		switch method, _, _ := strings.Cut(request, " "); method {
		case http.MethodGet:
		case http.MethodDelete: // the body has the setting
		default:
			if !strings.Contains(request, "dryRun=All") {
				e.Errorf("the check sent %s", request)
			}
		}
	}
	return err
}

func (e *env) refused(err error, want ...string) {
	e.Helper()
	if err == nil || IsTransient(err) {
		e.Fatalf("error %v", err)
	}
	for _, text := range want {
		if !strings.Contains(err.Error(), text) {
			e.Errorf("error %v, want %s", err, text)
		}
	}
}

func TestCheckInstall(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(failingChart)
	e.refused(e.check(e.release(chart, values("invalid", true)), Install, UpgradeOptions{}),
		"install: the API server refuses it, nothing was changed: Deployment/web: Deployment.apps \"web\" is invalid: ")
	e.mustNot("v1 ConfigMap before")
	if records := e.records(); records != "" {
		t.Errorf("records %s", records)
	}
	release := e.release(chart, nil)
	if err := e.check(release, Install, UpgradeOptions{}); err != nil {
		t.Fatal(err)
	}
	e.mustNot("v1 ConfigMap before")
	e.install(release)
	e.settled(release)
}

// TestCheckUpgrade refuses what can't be patched or replaced, objects of others, and the objects of hooks.
func TestCheckUpgrade(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	const all = `
-- templates/all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {v: {{ .Values.v | quote }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: immutable}
immutable: true
data: {v: {{ .Values.immutable | default "a" | quote }}}
{{- if .Values.foreign }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: foreign}
{{- end }}
{{- if not .Values.without }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: removed}
{{- end }}
-- templates/hook.yaml --
apiVersion: v1
kind: Service
metadata: {name: hook, annotations: {helm.sh/hook: pre-upgrade}}
spec: {ports: [{port: {{ .Values.port | default 80 }}}]}
-- templates/test.yaml --
apiVersion: v1
kind: Service
metadata: {name: test, annotations: {helm.sh/hook: test}}
spec: {ports: [{port: 0}]}
`
	chart := e.chart(all)
	e.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: foreign}")
	e.install(e.release(chart, values("v", "1")))
	for _, force := range []bool{false, true} {
		o := UpgradeOptions{Force: force}
		e.refused(e.check(e.release(chart, values("v", "2", "immutable", "x")), Upgrade, o), "ConfigMap/immutable: ", "field is immutable")
		e.refused(e.check(e.release(chart, values("v", "2", "foreign", true)), Upgrade, o), `ConfigMap "foreign"`, "invalid ownership metadata")
		e.refused(e.check(e.release(chart, values("v", "2", "port", int64(0), "immutable", "x")), Upgrade, o), "ConfigMap/immutable: ")
		e.refused(e.check(e.release(chart, values("v", "2", "port", int64(-1))), Upgrade, o), "Service/hook: ", "ports[0].port")
		if err := e.check(e.release(chart, values("v", "2", "without", true)), Upgrade, o); err != nil {
			t.Error(err)
		}
	}
	if v := e.field("v1 ConfigMap c", "data", "v"); v != "1" {
		t.Errorf("v %s", v)
	}
	e.must("v1 ConfigMap removed")
	if records := e.records(); records != "1 deployed" {
		t.Errorf("records %s", records)
	}
	for _, v := range []string{"2", "3"} { // the second time, the hook exists
		next := e.release(chart, values("v", v, "without", true))
		if err := e.check(next, Upgrade, UpgradeOptions{}); err != nil {
			t.Fatal(err)
		}
		e.upgrade(next)
		e.settled(next)
	}
}

// TestCheckAfterInterruption checks what continues an interrupted upgrade.
func TestCheckAfterInterruption(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(failingChart)
	e.install(e.release(chart, values("v", "1")))
	e.kill("PATCH /apis/apps/v1/namespaces/" + e.namespace + "/deployments/web")
	if _, err := e.release(chart, values("v", "2", "replicas", int64(2))).Upgrade(t.Context(), UpgradeOptions{}); err == nil {
		t.Fatal("not killed")
	}
	e.connect()
	e.refused(e.check(e.release(chart, values("invalid", true)), Upgrade, UpgradeOptions{}), "Deployment/web: ")
	next := e.release(chart, values("v", "3"))
	if err := e.check(next, Upgrade, UpgradeOptions{}); err != nil {
		t.Fatal(err)
	}
	if records := e.records(); records != "1 deployed, 2 pending-upgrade" {
		t.Errorf("records %s", records)
	}
	e.upgrade(next)
	e.settled(next)
}

// TestCheckWithoutRequirements leaves out objects whose kind or namespace the chart itself creates.
func TestCheckWithoutRequirements(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(`
-- crds/crd.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.check.example.com}
spec:
  group: check.example.com
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {n: {type: integer}}}}}}
-- templates/all.yaml --
apiVersion: check.example.com/v1
kind: Thing
metadata: {name: thing}
spec: {n: {{ .Values.n | default 1 | toJson }}}
---
apiVersion: v1
kind: Namespace
metadata: {name: {{ .Release.Namespace }}-more}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: {{ .Release.Namespace }}-more}
{{- if .Values.invalid }}
---
apiVersion: v1
kind: Service
metadata: {name: invalid}
spec: {ports: [{port: 0}]}
{{- end }}
`)
	e.refused(e.check(e.release(chart, values("invalid", true)), Install, UpgradeOptions{}), "Service/invalid: ")
	release := e.release(chart, nil)
	if err := e.check(release, Install, UpgradeOptions{}); err != nil {
		t.Fatal(err)
	}
	e.install(release)
	e.refused(e.check(e.release(chart, values("n", "text")), Upgrade, UpgradeOptions{}), "Thing/thing: ", "must be of type integer")
	e.uninstall(nil)
}

// TestCheckBinding lets a role and its binding be created by a user who has the permissions, but may not bind any role.
func TestCheckBinding(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	name := e.namespace + "-user"
	e.apply(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: ` + name + `}
rules:
- {apiGroups: [""], resources: [secrets, configmaps], verbs: ["*"]}
- {apiGroups: [rbac.authorization.k8s.io], resources: [roles, rolebindings], verbs: [get, list, watch, create, update, patch, delete]}
`)
	e.apply(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: ` + name + `}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ` + name + `}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ` + name + `}]
`)
	config := rest.CopyConfig(e.factory.rest)
	config.Impersonate.UserName = name
	factory, err := NewFactory(Config{REST: config})
	if err != nil {
		t.Fatal(err)
	}
	user := &env{T: t, namespace: e.namespace, owner: e.owner, factory: factory, requests: e.requests}
	chart := e.chart(`
-- templates/role.yaml --
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: web}
rules: [{apiGroups: [""], resources: [{{ .Values.resource }}], verbs: [get]}]
-- templates/binding.yaml --
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: web}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: web}
subjects: [{kind: ServiceAccount, name: default, namespace: {{ .Release.Namespace }}}]
`)
	e.eventually("the permissions are effective", func() bool {
		_, err := user.release(chart, nil).history()
		return err == nil
	})
	user.refused(user.check(user.release(chart, values("resource", "pods")), Install, UpgradeOptions{}), "Role/web: ", "attempting to grant RBAC permissions")
	release := user.release(chart, values("resource", "configmaps"))
	if err := user.check(release, Install, UpgradeOptions{}); err != nil {
		t.Fatal(err)
	}
	user.install(release)
}

// TestCheckTakenOver checks upgrades of a release that operator-sdk's helm-operator has made.
func TestCheckTakenOver(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.storePeerRelease(peerManifest)
	before := e.must("apps/v1 Deployment web").GetResourceVersion()
	chart := e.chart(basicChart)
	for _, force := range []bool{false, true} {
		o := UpgradeOptions{Force: force}
		e.refused(e.check(e.release(chart, values("port", int64(0), "replicas", int64(3))), Upgrade, o), "Service/web: ", "ports[0].port")
		if err := e.check(e.release(chart, values("port", int64(81), "replicas", int64(3))), Upgrade, o); err != nil {
			t.Error(err)
		}
	}
	if after := e.must("apps/v1 Deployment web").GetResourceVersion(); after != before {
		t.Error("the deployment has changed")
	}
	e.upgrade(e.release(chart, values("port", int64(81), "replicas", int64(3))))
}

func TestNeedsMissing(t *testing.T) {
	t.Parallel()
	object := func(kind, plural, group, name string) *resource.Info {
		return &resource.Info{Name: name, Mapping: &meta.RESTMapping{
			GroupVersionKind: schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind},
			Resource:         schema.GroupVersionResource{Group: group, Version: "v1", Resource: plural},
		}}
	}
	pod := object("Pod", "pods", "", "web")
	c := &check{guards: []string{"exceeded quota: small,"}, missing: []*resource.Info{
		pod, object("ServiceAccount", "serviceaccounts", "", "web"), object("PriorityClass", "priorityclasses", "scheduling.k8s.io", "high"),
		object("Role", "roles", "rbac.authorization.k8s.io", "reader"), object("Namespace", "namespaces", "", "more"),
	}}
	for text, want := range map[string]bool{
		`pods "web" is forbidden: error looking up service account default/web: serviceaccount "web" not found`:     true,
		`pods "web" is forbidden: error looking up service account default/other: serviceaccount "other" not found`: false,
		`pods "web" is forbidden: no PriorityClass with name high was found`:                                        true,
		`roles.rbac.authorization.k8s.io "reader" not found`:                                                        true,
		`namespaces "more" not found`:                                                                      true,
		`Pod "web" is invalid: spec.containers: Required value`:                                            false,
		`pods "web" is forbidden: exceeded quota: small, requested: pods=1, used: pods=1, limited: pods=1`: true,
		`pods "web" is forbidden: exceeded quota: other, requested: pods=1, used: pods=1, limited: pods=1`: false,
		`admission webhook "w.example.com" does not support dry run`:                                       true,
	} {
		if got := c.needsMissing(pod, apierrors.NewBadRequest(text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

// TestCheckOfSkippedCRDs checks that a dry run creates no CRDs that the operation leaves to others, so that their kinds are missing.
func TestCheckOfSkippedCRDs(t *testing.T) {
	t.Parallel()
	e := newCRDEnv(t)
	chart := e.version("1.0.0", e.definition("v1", "a"))
	chart.Templates = append(chart.Templates, &common.File{Name: "templates/x.yaml", Data: []byte("{apiVersion: " + e.group + "/v1, kind: Gadget, metadata: {name: x}}\n")})
	if err := e.check(e.with(CRDsCreate, chart), Install, UpgradeOptions{}); err != nil {
		t.Errorf("CRDs that the installation creates: %v", err)
	}
	e.refused(e.check(e.with(CRDsSkip, chart), Install, UpgradeOptions{}), "no matches for kind")
}
