package helmoperator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/helmoperator"
)

// webChart is a Deployment, and an Ingress that the API server refuses if the port is 0.
func webChart() helmoperator.Option {
	return helmoperator.WithChart(chart("web", "{tag: '1', port: 80}", map[string]string{
		"deployment.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}-web}
spec:
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec: {containers: [{name: web, image: "nginx:{{ .Values.tag }}"}]}
`,
		"ingress.yaml": `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: {{ .Release.Name }}-web}
spec: {defaultBackend: {service: {name: web, port: {number: {{ .Values.port }}}}}}
`,
	}))
}

// operations returns how often operations of the kind of a test have ended.
func (e *env) operations(operation, result string) float64 {
	e.Helper()
	m := metric(e.T, "helm_operator_release_operations_total", map[string]string{"kind": e.gvk.Kind, "operation": operation, "result": result})
	return m.GetCounter().GetValue()
}

// waitOperations waits until more operations have ended.
func (e *env) waitOperations(operation, result string, more float64) {
	e.Helper()
	want := e.operations(operation, result) + more
	e.eventually(fmt.Sprintf("%s (%s)", operation, result), func() error {
		if got := e.operations(operation, result); got < want {
			return fmt.Errorf("%v of %v", got, want)
		}
		return nil
	})
}

func failedRelease(obj *unstructured.Unstructured) map[string]any {
	failed, _, _ := unstructured.NestedMap(obj.Object, "status", "failedRelease")
	return failed
}

// TestRefusedUpgrade changes nothing while the API server refuses an object of an upgrade, and repairs what is deployed.
func TestRefusedUpgrade(t *testing.T) {
	t.Parallel()
	for _, force := range []string{"false", "true"} {
		t.Run("force "+force, func(t *testing.T) {
			t.Parallel()
			testRefusedUpgrade(t, force)
		})
	}
}

func testRefusedUpgrade(t *testing.T, force string) {
	e := newEnv(t)
	e.start(webChart(), helmoperator.WithReconcilePeriod(100*time.Millisecond))
	obj := e.create("one", map[string]any{}, func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(map[string]string{helmoperator.AnnotationUpgradeForce: force})
	})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	before, err := e.get("apps/v1", "Deployment", "one-web")
	if err != nil {
		t.Fatal(err)
	}
	e.patch(obj, `spec: {tag: "2", port: 0}`)
	obj = e.waitFor("one", helmoperator.ConditionReleaseFailed, "True/UpgradeError")
	if _, message := conditionOf(obj, helmoperator.ConditionReleaseFailed); !strings.Contains(message, "Ingress/one-web") ||
		!strings.Contains(message, "port name or number is required") || !strings.Contains(message, "nothing was changed") {
		t.Errorf("message %q", message)
	}
	if got, _ := conditionOf(obj, helmoperator.ConditionReady); got != "False/UpgradeError" {
		t.Errorf("Ready is %s", got)
	}
	e.waitOperations("check", "error", 5)
	after, err := e.get("apps/v1", "Deployment", "one-web")
	if err != nil || after.GetGeneration() != before.GetGeneration() {
		t.Errorf("the deployment has generation %d, had %d (%v)", after.GetGeneration(), before.GetGeneration(), err)
	}
	if revisions := e.revisions(); len(revisions) != 1 || e.operations("upgrade", "error") != 0 {
		t.Errorf("revisions %v, %v upgrades", revisions, e.operations("upgrade", "error"))
	}

	ingress, err := e.get("networking.k8s.io/v1", "Ingress", "one-web")
	if err != nil {
		t.Fatal(err)
	}
	if err := e.client.Delete(t.Context(), ingress); err != nil {
		t.Fatal(err)
	}
	e.eventually("the ingress is repaired", func() error {
		_, err := e.get("networking.k8s.io/v1", "Ingress", "one-web")
		return err
	})
	if obj, err = e.resource("one"); err != nil || failedRelease(obj) != nil {
		t.Errorf("%v, failed release %v", err, failedRelease(obj))
	}
	if got, _ := conditionOf(obj, helmoperator.ConditionReady); got != "False/UpgradeError" {
		t.Errorf("Ready is %s", got)
	}

	e.patch(obj, `spec: {port: 81}`)
	obj = e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	if got, message := conditionOf(obj, helmoperator.ConditionReleaseFailed); got != "absent" {
		t.Errorf("ReleaseFailed is %s %s", got, message)
	}
	if revisions := e.revisions(); len(revisions) != 2 {
		t.Errorf("revisions %v", revisions)
	}
}

// TestRefusedInstall creates nothing, and installs as soon as the API server accepts it.
func TestRefusedInstall(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	foreign := e.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: one-config, namespace: " + e.namespace + "}, data: {text: foreign}}")
	e.start(helmoperator.WithReconcilePeriod(100*time.Millisecond), helmoperator.WithChart(chart("app", "", map[string]string{
		"account.yaml": "{apiVersion: v1, kind: ServiceAccount, metadata: {name: one-account}}", "configmap.yaml": configMap,
	})))
	e.create("one", map[string]any{"text": "x"})
	obj := e.waitFor("one", helmoperator.ConditionReleaseFailed, "True/InstallError")
	if _, message := conditionOf(obj, helmoperator.ConditionReleaseFailed); !strings.Contains(message, "invalid ownership metadata") {
		t.Errorf("message %q", message)
	}
	e.waitOperations("check", "error", 3)
	if revisions := e.revisions(); len(revisions) != 0 {
		t.Errorf("revisions %v", revisions)
	}
	if _, err := e.get("v1", "ServiceAccount", "one-account"); err == nil {
		t.Error("the service account exists")
	}
	if err := e.client.Delete(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
}

// TestRefusedWithoutPeriod repeats the dry run without a period, too.
func TestRefusedWithoutPeriod(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(webChart())
	e.create("one", map[string]any{"port": int64(0)})
	e.waitFor("one", helmoperator.ConditionReleaseFailed, "True/InstallError")
	e.waitOperations("check", "error", 2)
	if revisions := e.revisions(); len(revisions) != 0 {
		t.Errorf("revisions %v", revisions)
	}
}
