package helmoperator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/helmoperator"
)

// kindsChart renders the types of values.
func kindsChart() helmoperator.Option {
	return helmoperator.WithChart(chart("app", "debug: false\nremoved: here", map[string]string{"configmap.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-config
data:
  text: "{{ kindOf .Values.debug }} {{ .Values.debug }} {{ kindOf .Values.size }} {{ .Values.size }} {{ .Values.large }} {{ kindOf .Values.name }} {{ .Values.name }} {{ .Values.list }} {{ .Values.removed }} {{ .Values.nested.own }}"
`}))
}

// TestOverrides checks that overrides win over the spec, as strings and with their types.
func TestOverrides(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(kindsChart(),
		helmoperator.WithTypedOverrideValues(map[string]any{
			"debug": true, "size": 3, "large": int64(9007199254740993), "list": []string{"a", "b"}, "removed": nil,
			"nested": map[string]any{"other": 1}, "name": "typed",
		}),
		helmoperator.WithOverrideValues(map[string]string{"name": "7"}))
	e.create("one", map[string]any{"debug": "no", "name": "spec", "nested": map[string]any{"own": "kept"}})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	config, err := e.get("v1", "ConfigMap", "one-config")
	want := "bool true int64 3 9007199254740993 string 7 [a b]  kept"
	if err != nil || text(config) != want {
		t.Errorf("got %q (%v), want %q", text(config), err, want)
	}
	if got := e.eventuallyEvents(helmoperator.EventOverrideValues, 1); !strings.Contains(got[0], `"name" overridden to "7"`) {
		t.Errorf("events %q", got)
	}
}

// TestRedaction checks that data of Secrets are in no condition, status, event or log.
func TestRedaction(t *testing.T) {
	t.Parallel()
	const secret, override = "correct-horse-battery", "battery-staple-image"
	templates := map[string]string{
		"NOTES.txt": "The password is {{ .Values.password }}.\n" + strings.Repeat("long notes ", 1000),
		"secret.yaml": `apiVersion: v1
kind: Secret
metadata:
  name: {{ .Release.Name }}-secret
stringData:
  password: {{ .Values.password }}
  other: {{ .Values.image | default "x" }}
`, "configmap.yaml": configMap,
	}
	for _, suppress := range []bool{false, true} {
		t.Run(fmt.Sprintf("suppress %v", suppress), func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.start(helmoperator.WithChart(chart("app", "text: x", templates)), helmoperator.WithStatusManifest(10000),
				helmoperator.WithSuppressOverrideValues(suppress),
				helmoperator.WithOverrideValues(map[string]string{"image": override, "adminPassword": "swordfish", "plain": "visible"}))
			e.create("one", map[string]any{"password": secret})
			obj := e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
			status := fmt.Sprint(obj.Object["status"])
			if _, message := conditionOf(obj, helmoperator.ConditionDeployed); len(message) > 4096 || !strings.HasPrefix(message, "The password is [redacted].") {
				t.Errorf("notes %.60q of %d bytes", message, len(message))
			}
			manifest, _, _ := unstructured.NestedString(obj.Object, "status", "deployedRelease", "manifest")
			if !strings.Contains(manifest, "one-config") || !strings.Contains(manifest, "[redacted]") {
				t.Errorf("manifest %q", manifest)
			}
			events := strings.Join(e.eventuallyEvents(helmoperator.EventOverrideValues, 3), "\n")
			if strings.Contains(events, "visible") == suppress || !strings.Contains(events, `"image"`) {
				t.Errorf("events %s", events)
			}
			for where, text := range map[string]string{"status": status, "events": events, "logs": e.log.String()} {
				for _, s := range []string{secret, override, "swordfish", "Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5"} {
					if strings.Contains(text, s) {
						t.Errorf("%s: %q in %s", where, s, text)
					}
				}
			}
		})
	}
}

// TestRedactedErrors checks that errors of templates contain no passwords.
func TestRedactedErrors(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(chart("app", "", map[string]string{"fail.yaml": `{{ fail (printf "cannot use %s" .Values.auth.password) }}`})))
	e.create("one", map[string]any{"auth": map[string]any{"password": "correct-horse"}})
	obj := e.waitFor("one", helmoperator.ConditionReleaseFailed, "True/InstallError")
	if _, message := conditionOf(obj, helmoperator.ConditionReleaseFailed); !strings.Contains(message, "cannot use [redacted]") {
		t.Errorf("message %q", message)
	}
	if strings.Contains(fmt.Sprint(obj.Object["status"])+e.log.String(), "correct-horse") {
		t.Errorf("a password in the status or logs: %v", obj.Object["status"])
	}
}

// TestInvalid checks that resources that cannot be reconciled state the cause, and that others are reconciled.
func TestInvalid(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	c := chart("app", "text: x", map[string]string{"configmap.yaml": configMap + `{{ if eq .Values.text "broken" }}{{ required "a cause" .Values.missing }}{{ end }}`})
	c.Schema = []byte(`{"type": "object", "properties": {"replicas": {"type": "integer"}}}`)
	e.start(helmoperator.WithChart(c))
	long := strings.Repeat("long", 15)
	e.create("schema", map[string]any{"replicas": "three"})
	e.create("template", map[string]any{"text": "broken"})
	e.create(long, nil)
	e.create("period", nil, func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(map[string]string{helmoperator.AnnotationReconcilePeriod: "often"})
	})
	e.create("good", nil)
	for name, want := range map[string]struct{ kind, reason, cause string }{
		"schema":   {helmoperator.ConditionReleaseFailed, helmoperator.ReasonInstallError, "replicas"},
		"template": {helmoperator.ConditionReleaseFailed, helmoperator.ReasonInstallError, "a cause"},
		long:       {helmoperator.ConditionIrreconcilable, helmoperator.ReasonReconcileError, "the name has 60 characters"},
		"period":   {helmoperator.ConditionIrreconcilable, helmoperator.ReasonReconcileError, "must be a duration"},
	} {
		obj := e.waitFor(name, want.kind, "True/"+want.reason)
		if _, message := conditionOf(obj, want.kind); !strings.Contains(message, want.cause) {
			t.Errorf("%s: message %q, want %q", name, message, want.cause)
		}
		if got, _ := conditionOf(obj, helmoperator.ConditionReady); got != "False/"+want.reason {
			t.Errorf("%s: Ready is %s", name, got)
		}
	}
	good := e.waitFor("good", helmoperator.ConditionReady, "True/ObjectsReady")
	e.patch(good, "spec: {text: broken}")
	e.waitFor("good", helmoperator.ConditionIrreconcilable, "True/ReconcileError")
	// A corrected resource loses the condition, and all can be deleted.
	obj, err := e.resource("schema")
	if err != nil {
		t.Fatal(err)
	}
	e.patch(obj, "spec: {replicas: 3}")
	e.waitFor("schema", helmoperator.ConditionReleaseFailed, "absent")
	e.waitFor("schema", helmoperator.ConditionReady, "True/ObjectsReady")
	for _, name := range []string{"schema", "template", long, "period", "good"} {
		e.delete(name)
	}
}

// TestFailedUpgrade checks that a failed upgrade is rolled back, with the history kept.
func TestFailedUpgrade(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithMaxReleaseHistory(3), helmoperator.WithChart(chart("app", "port: 80", map[string]string{
		"configmap.yaml": configMap,
		"service.yaml":   "{apiVersion: v1, kind: Service, metadata: {name: {{ .Release.Name }}}, spec: {ports: [{port: {{ .Values.port }}}]}}",
		"job.yaml":       failingHook,
	})))
	obj := e.create("one", map[string]any{"text": "good"})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	service, err := e.get("v1", "Service", "one")
	if err != nil {
		t.Fatal(err)
	}
	e.patch(obj, "spec: {text: bad, port: 82, fail: true}")
	obj = e.waitFor("one", helmoperator.ConditionReleaseFailed, "True/UpgradeError")
	if _, message := conditionOf(obj, helmoperator.ConditionReleaseFailed); !strings.Contains(message, "rolled back to revision 1") {
		t.Errorf("message %q", message)
	}
	config, err := e.get("v1", "ConfigMap", "one-config")
	if err != nil || text(config) != "good" {
		t.Errorf("got %q (%v), want the value before the upgrade", text(config), err)
	}
	e.patch(obj, "spec: {text: better, port: 81, fail: false}")
	obj = e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	if got, message := conditionOf(obj, helmoperator.ConditionReleaseFailed); got != "absent" {
		t.Errorf("ReleaseFailed is %s %q", got, message)
	}
	after, err := e.get("v1", "Service", "one")
	if err != nil || after.GetUID() != service.GetUID() {
		t.Errorf("the Service was replaced (%v), but the rollback is not forced by default", err)
	}
	if got := e.revisions(); len(got) < 2 || len(got) > 3 {
		t.Errorf("revisions %v, want at most 3", got)
	}
}

// TestSelector checks that resources outside of the selector are left alone, but can be deleted if they have left it.
func TestSelector(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithSelector(metav1.LabelSelector{MatchLabels: map[string]string{"shard": "a"}}),
		helmoperator.WithChart(chart("app", "", map[string]string{"configmap.yaml": configMap})))
	labeled := func(shard string) func(*unstructured.Unstructured) {
		return func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"shard": shard}) }
	}
	e.create("other", map[string]any{"text": "x"}, labeled("b"))
	obj := e.create("one", map[string]any{"text": "x"}, labeled("a"))
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	if other, err := e.resource("other"); err != nil || other.Object["status"] != nil || len(other.GetFinalizers()) > 0 {
		t.Errorf("a resource outside of the selector was reconciled: %v (%v)", other, err)
	}
	// The label changes while the deletion is blocked by another finalizer.
	hold, err := e.get("v1", "ConfigMap", "one-config")
	if err != nil {
		t.Fatal(err)
	}
	e.patch(hold, "metadata: {finalizers: [example.com/hold]}")
	e.patch(obj, "metadata: {annotations: {helm.sdk.operatorframework.io/uninstall-wait: 'true'}}")
	if err := e.client.Delete(e.Context(), obj); err != nil {
		t.Fatal(err)
	}
	e.waitFor("one", helmoperator.ConditionDeletionBlocked, "True/WaitingForObjects")
	e.patch(obj, "metadata: {labels: {shard: c}}")
	e.patch(hold, "metadata: {finalizers: []}")
	e.waitGone(e.gvk.GroupVersion().String(), e.gvk.Kind, "one")

	// The label has changed before the deletion.
	obj = e.create("two", map[string]any{"text": "x"}, labeled("a"))
	e.waitFor("two", helmoperator.ConditionReady, "True/ObjectsReady")
	e.patch(obj, "metadata: {labels: {shard: b}}")
	if err := e.client.Delete(e.Context(), obj); err != nil {
		t.Fatal(err)
	}
	e.waitGone(e.gvk.GroupVersion().String(), e.gvk.Kind, "two")
	e.waitGone("v1", "ConfigMap", "two-config")
}

// TestHooksAndTranslator checks what the functions of an operator receive, and that their errors end a pass.
func TestHooksAndTranslator(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	var mu sync.Mutex
	var calls []string
	fail := true
	add := func(when string, r helmoperator.HookRequest) error {
		mu.Lock()
		defer mu.Unlock()
		revision := 0
		if r.Release != nil {
			revision = r.Release.Revision
		}
		calls = append(calls, fmt.Sprintf("%s %s %s %v %d", when, r.Object.GetName(), r.Action, r.Values["text"], revision))
		if fail {
			fail = false
			return errors.New("not yet")
		}
		return r.Client.List(context.Background(), &corev1.NamespaceList{}, client.Limit(1))
	}
	e.start(
		helmoperator.WithChart(chart("app", "", map[string]string{"configmap.yaml": configMap})),
		helmoperator.WithValueTranslator(func(_ context.Context, obj *unstructured.Unstructured) (map[string]any, error) {
			size, _, _ := unstructured.NestedString(obj.Object, "spec", "size")
			return map[string]any{"text": "size " + size}, nil
		}),
		helmoperator.WithPreHook(func(_ context.Context, r helmoperator.HookRequest) error { return add("before", r) }),
		helmoperator.WithPostHook(func(_ context.Context, r helmoperator.HookRequest) error { return add("after", r) }),
		helmoperator.WithPostRender(func(objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
			for _, object := range objects {
				object.SetAnnotations(map[string]string{"example.com/rendered": "yes"})
			}
			return objects, nil
		}))
	e.create("one", map[string]any{"size": "small"})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	config, err := e.get("v1", "ConfigMap", "one-config")
	if err != nil || text(config) != "size small" || config.GetAnnotations()["example.com/rendered"] != "yes" {
		t.Errorf("got %v (%v)", config, err)
	}
	mu.Lock()
	defer mu.Unlock()
	want := []string{"before one Install size small 0", "before one Install size small 0", "after one Install size small 1"}
	if !slices.Equal(calls[:min(3, len(calls))], want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
}

// TestTwoGroups checks that one kind in two groups works, with shared watches.
func TestTwoGroups(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	other := schema.GroupVersionKind{Group: "other.example.com", Version: "v1", Kind: e.gvk.Kind}
	e.createCRD(other)
	c := helmoperator.WithChart(chart("app", "", map[string]string{"configmap.yaml": configMap}))
	e.startWith(e.config, nil,
		[]helmoperator.Option{helmoperator.WithGroupVersionKind(e.gvk), c}, []helmoperator.Option{helmoperator.WithGroupVersionKind(other), c})
	e.create("one", map[string]any{"text": "x"})
	first := *e
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	second := first
	second.gvk = other
	second.create("two", map[string]any{"text": "x"})
	second.waitFor("two", helmoperator.ConditionReady, "True/ObjectsReady")
	for _, name := range []string{"one", "two"} {
		config, err := e.get("v1", "ConfigMap", name+"-config")
		if err != nil {
			t.Fatal(err)
		}
		if err := e.client.Delete(e.Context(), config); err != nil {
			t.Fatal(err)
		}
		e.eventually("the ConfigMap is created again", func() error {
			again, err := e.get("v1", "ConfigMap", name+"-config")
			if err == nil && again.GetUID() == config.GetUID() {
				err = errNotYet
			}
			return err
		})
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	gvk := helmoperator.WithGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "App"})
	for want, options := range map[string][]helmoperator.Option{
		"kind are required":           nil,
		"a chart is required":         {gvk},
		"version and kind":            {helmoperator.WithGroupVersionKind(schema.GroupVersionKind{Kind: "App"})},
		"chart: must not be nil":      {gvk, helmoperator.WithChart(nil)},
		"chart path":                  {gvk, helmoperator.WithChartPath("")},
		"override value a[x]":         {gvk, helmoperator.WithOverrideValues(map[string]string{"a[x]": "1"})},
		"typed override values":       {gvk, helmoperator.WithTypedOverrideValues(map[string]any{"a": func() {}})},
		"selector":                    {gvk, helmoperator.WithSelector(metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Is"}}})},
		"reconcile period -1s":        {gvk, helmoperator.WithReconcilePeriod(-time.Second)},
		"concurrent reconciles 0":     {gvk, helmoperator.WithMaxConcurrentReconciles(0)},
		"release history -1":          {gvk, helmoperator.WithMaxReleaseHistory(-1)},
		`dry-run option "x": must be`: {gvk, helmoperator.WithDryRunOption("x")},
		"limit of the manifest -1":    {gvk, helmoperator.WithStatusManifest(-1)},
	} {
		if _, err := helmoperator.New(options...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	_, err := helmoperator.New(helmoperator.WithReconcilePeriod(-1), helmoperator.WithDryRunOption("x"))
	if err == nil || !strings.Contains(err.Error(), "period") || !strings.Contains(err.Error(), "dry-run") {
		t.Errorf("got %v, want both errors", err)
	}
}
