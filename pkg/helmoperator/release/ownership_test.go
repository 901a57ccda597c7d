package release

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ownedChart has objects that tests create before the installation.
const ownedChart = `
-- templates/all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: config, labels: {chart: "yes"}{{ if .Values.keep }}, annotations: {helm.sh/resource-policy: keep}{{ end }}}
data: {v: {{ .Values.v | default "chart" | quote }}}
---
apiVersion: v1
kind: Secret
metadata: {name: password}
stringData: {password: chart-password}
{{- if .Values.widget }}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: small}
spec: {size: 1, colors: [red]}
{{- end }}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "example.com/web:1"}]}
{{- with .Values.fail }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: hook, labels: {invalid: "a b"}, annotations: {helm.sh/hook: {{ . }}}}
{{- end }}
`

const (
	plainConfig     = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, labels: {theirs: a}}\ndata: {v: theirs, other: theirs}"
	plainSecret     = "apiVersion: v1\nkind: Secret\nmetadata: {name: password}\nstringData: {password: their-password}"
	plainWidget     = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: small}\nspec: {size: 2, colors: [green, blue], other: 1}"
	plainDeployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}},
template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "example.com/web:1"}]}}}}`
)

var takeableObjects = []string{"v1 ConfigMap config", "v1 Secret password", "example.com/v1 Widget small", "apps/v1 Deployment web"}

// takeable creates the objects of the chart as others do.
func (e *env) takeable() {
	e.Helper()
	for _, manifest := range []string{plainConfig, plainSecret, plainWidget, plainDeployment} {
		e.apply(manifest)
	}
}

func (e *env) taking(values map[string]any, options ...func(*Options)) *Release {
	e.Helper()
	return e.release(e.chart(ownedChart), values, append([]func(*Options){func(o *Options) { o.TakeOwnership = OwnershipEnabled }}, options...)...)
}

// content returns the objects that tests create, with their UIDs, without what the server changes on its own.
func (e *env) content() string {
	e.Helper()
	var all strings.Builder
	for _, reference := range takeableObjects {
		live := e.must(reference)
		live.SetManagedFields(nil)
		live.SetResourceVersion("")
		live.SetGeneration(0)
		delete(live.Object, "status")
		text, err := json.MarshalIndent(live.Object, "", " ")
		if err != nil {
			e.Fatal(err)
		}
		all.Write(append(text, '\n'))
	}
	return all.String()
}

// uids returns the UIDs of the objects that tests create.
func (e *env) uids() string {
	e.Helper()
	var all []string
	for _, reference := range takeableObjects {
		all = append(all, string(e.must(reference).GetUID()))
	}
	return strings.Join(all, " ")
}

// TestTakeOwnership adopts objects in an installation and in an upgrade, without replacing them, and deletes them with the release.
func TestTakeOwnership(t *testing.T) {
	t.Parallel()
	for _, operation := range []Action{Install, Upgrade} {
		t.Run(string(operation), func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			release := e.taking(values("widget", true))
			if operation == Upgrade {
				e.install(e.release(e.chart("-- templates/other.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n"), nil))
			}
			e.takeable()
			uids, spec := e.uids(), e.field("apps/v1 Deployment web", "spec")
			if err := e.check(release, operation, UpgradeOptions{}); err != nil {
				t.Fatal(err)
			}
			if operation == Upgrade {
				e.upgrade(release)
			} else {
				e.install(release)
			}
			if got := e.uids(); got != uids {
				t.Errorf("UIDs %s, want %s", got, uids)
			}
			if got := e.field("apps/v1 Deployment web", "spec"); got != spec {
				t.Errorf("deployment %s, was %s", got, spec)
			}
			for field, want := range map[string]string{"v": "chart", "other": "theirs"} {
				if got := e.field("v1 ConfigMap config", "data", field); got != want {
					t.Errorf("%s is %s, want %s", field, got, want)
				}
			}
			if got := e.field("example.com/v1 Widget small", "spec"); got != "map[colors:[red] other:1 size:1]" {
				t.Errorf("widget %s", got)
			}
			if got := DescribeTakeovers(release.TakenOver()); !strings.Contains(got, "would change data.v, metadata.labels.chart)") || strings.Contains(got, "-password") {
				t.Errorf("taken over: %s", got)
			}
			for _, reference := range takeableObjects {
				if live := e.must(reference); !release.isOwned(live) || !release.owner.owns(live) {
					t.Errorf("%s has metadata %v", reference, live.Object["metadata"])
				}
			}
			e.settled(release)
			e.uninstall(nil)
			for _, reference := range takeableObjects {
				e.mustNot(reference)
			}
		})
	}
}

// TestTakeOwnershipKeeps leaves adopted objects with the policy keep when the release is uninstalled.
func TestTakeOwnershipKeeps(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.takeable()
	e.install(e.taking(values("keep", true)))
	if owners := e.must("v1 ConfigMap config").GetOwnerReferences(); len(owners) > 0 {
		t.Errorf("owners %v", owners)
	}
	e.uninstall(nil)
	e.must("v1 ConfigMap config")
	e.mustNot("v1 Secret password")
}

// TestTakeOwnershipReport describes what would be adopted and changes nothing.
func TestTakeOwnershipReport(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.takeable()
	e.update("apps/v1 Deployment web", func(live *unstructured.Unstructured) {
		live.SetAnnotations(map[string]string{OwnerAnnotation: e.namespace + "/other", OwnerTypeAnnotation: "Web.example.org"})
	})
	before := e.content()
	release := e.taking(values("widget", true), func(o *Options) { o.TakeOwnership = OwnershipReport })
	err := e.check(release, Install, UpgradeOptions{})
	var conflict *OwnershipError
	if !errors.As(err, &conflict) || len(conflict.Takeovers) != 4 || IsTransient(err) {
		t.Fatalf("error %v", err)
	}
	const want = `(takeOwnership: report changes nothing): ConfigMap/config (written by helm-operator; would change data.v, metadata.labels.chart), ` +
		`Deployment/web (belongs to the custom resource Web.example.org NS/other), ` +
		`Secret/password (written by helm-operator; would change data.password), Widget/small (written by helm-operator; would change spec.colors, spec.size)`
	if got := err.Error(); !strings.HasSuffix(got, strings.ReplaceAll(want, "NS", e.namespace)) {
		t.Errorf("error %s", got)
	}
	if _, err := release.Install(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be imported") {
		t.Errorf("error %v", err)
	}
	if after := e.content(); after != before {
		t.Errorf("changed:\n%s\nwas:\n%s", after, before)
	}
}

// TestTakeOwnershipRefused leaves objects of others, and what could be adopted, as they are.
func TestTakeOwnershipRefused(t *testing.T) {
	t.Parallel()
	annotated := func(pairs ...string) func(*env, *unstructured.Unstructured) {
		return func(e *env, live *unstructured.Unstructured) {
			annotations := map[string]string{}
			for i := 0; i < len(pairs); i += 2 {
				annotations[pairs[i]] = strings.ReplaceAll(pairs[i+1], "NS", e.namespace)
			}
			live.SetAnnotations(annotations)
		}
	}
	owned := func(controller bool) func(*env, *unstructured.Unstructured) {
		return func(e *env, live *unstructured.Unstructured) {
			reference := newOwner(e.owner).reference()
			reference.Kind, reference.Name, reference.UID, reference.Controller = "Gizmo", "big", "00000000-0000-0000-0000-000000000001", &controller
			reference.BlockOwnerDeletion = nil
			live.SetOwnerReferences(append(live.GetOwnerReferences(), reference))
		}
	}
	for name, test := range map[string]struct {
		change func(*env, *unstructured.Unstructured)
		want   string // empty if it is adopted
	}{
		"controller":  {owned(true), "belongs to Gizmo/big"},
		"owner":       {owned(false), "belongs to Gizmo/big"},
		"resource":    {annotated(OwnerAnnotation, "NS/other", OwnerTypeAnnotation, "Widget.example.com"), "belongs to the custom resource Widget.example.com NS/other"},
		"release":     {annotated(releaseAnnotation, "live", namespaceAnnotation, "NS"), "belongs to the Helm release NS/live"},
		"incomplete":  {annotated(releaseAnnotation, "gone"), "belongs to the Helm release /gone"},
		"gone":        {annotated(releaseAnnotation, "gone", namespaceAnnotation, "NS"), ""},
		"uninstalled": {annotated(releaseAnnotation, "uninstalled", namespaceAnnotation, "NS"), ""},
		"argo":        {annotated("argocd.argoproj.io/tracking-id", "x"), "belongs to Argo CD"},
		"keep":        {annotated(policyAnnotation, policyKeep), "has the annotation helm.sh/resource-policy: keep"},
		"deleted":     {func(_ *env, live *unstructured.Unstructured) { live.SetFinalizers([]string{"example.com/x"}) }, "is being deleted"},
		"own": {func(e *env, live *unstructured.Unstructured) {
			annotated(OwnerAnnotation, "NS/web", OwnerTypeAnnotation, "Widget.example.com")(e, live)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.takeable()
			for release, status := range map[string]string{"live": "deployed", "uninstalled": "uninstalled"} {
				e.apply("{apiVersion: v1, kind: Secret, metadata: {name: sh.helm.release.v1." + release + ".v1, labels: {owner: helm, name: " + release + ", status: " + status + "}}}")
			}
			e.update("v1 Secret password", func(live *unstructured.Unstructured) { test.change(e, live) })
			if name == "deleted" {
				e.remove("v1 Secret password")
			}
			before := e.content()
			release := e.taking(values("widget", true))
			err := e.check(release, Install, UpgradeOptions{})
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				e.install(release)
				e.settled(release)
				return
			}
			want := strings.ReplaceAll(test.want, "NS", e.namespace)
			e.refused(err, "aren't taken over: Secret/password ("+want)
			var conflict *OwnershipError
			if !errors.As(err, &conflict) || len(conflict.Takeovers) != 4 || strings.Contains(err.Error(), "ConfigMap/") {
				t.Errorf("error %v", err)
			}
			if _, err := release.Install(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("install without a check: %v", err)
			}
			if after := e.content(); after != before {
				t.Errorf("changed:\n%s\nwas:\n%s", after, before)
			}
		})
	}
}

// TestTakeOwnershipOfOtherNamespaces refuses objects outside of the namespace of the release.
func TestTakeOwnershipOfOtherNamespaces(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.apply("{apiVersion: v1, kind: Namespace, metadata: {name: " + e.namespace + "-other}}")
	e.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: config, namespace: " + e.namespace + "-other}}")
	e.apply("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: " + e.namespace + "}, value: 7}")
	chart := e.chart(`
-- templates/all.yaml --
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: {{ .Release.Namespace }}}, value: 7, description: chart}
{{- if .Values.other }}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: config, namespace: {{ .Release.Namespace }}-other}}
{{- end }}
`)
	enabled := func(o *Options) { o.TakeOwnership = OwnershipEnabled }
	e.refused(e.check(e.release(chart, values("other", true), enabled), Install, UpgradeOptions{}), "is in another namespace than the release")
	release := e.release(chart, nil, enabled)
	e.install(release)
	e.settled(release)
	if live := e.must("scheduling.k8s.io/v1 PriorityClass " + e.namespace); !release.owner.owns(live) || len(live.GetOwnerReferences()) > 0 {
		t.Errorf("metadata %v", live.Object["metadata"])
	}
	e.uninstall(nil)
	e.mustNot("scheduling.k8s.io/v1 PriorityClass " + e.namespace)
}
