package helmoperator_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/helmoperator"
)

// TestUninstallWait checks that a condition names the objects that block a deletion.
func TestUninstallWait(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(chart("app", "", map[string]string{"configmap.yaml": configMap})))
	obj := e.create("one", map[string]any{"text": "x"}, func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(map[string]string{helmoperator.AnnotationUninstallWait: "true", helmoperator.AnnotationUpgradeForce: "false"})
	})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	config, err := e.get("v1", "ConfigMap", "one-config")
	if err != nil {
		t.Fatal(err)
	}
	e.patch(config, "metadata: {finalizers: [example.com/hold]}")
	if err := e.client.Delete(e.Context(), obj); err != nil {
		t.Fatal(err)
	}
	obj = e.waitFor("one", helmoperator.ConditionDeletionBlocked, "True/WaitingForObjects")
	if _, message := conditionOf(obj, helmoperator.ConditionDeletionBlocked); !strings.Contains(message, "one-config") {
		t.Errorf("message %q, want the object", message)
	}
	if got, _ := conditionOf(obj, helmoperator.ConditionDeployed); got != "False/UninstallSuccessful" {
		t.Errorf("Deployed is %s", got)
	}
	e.patch(config, "metadata: {finalizers: []}")
	e.waitGone(e.gvk.GroupVersion().String(), e.gvk.Kind, "one")
	if got := e.revisions(); len(got) > 0 {
		t.Errorf("revisions %v remain", got)
	}
}

// TestDeletionBlocked checks that the error of an uninstallation is in a condition, and that it is tried again.
func TestDeletionBlocked(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(chart("app", "", map[string]string{
		"configmap.yaml": configMap,
		"hook.yaml": `apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}-hook
  annotations: {helm.sh/hook: pre-delete}
spec: {ports: [{port: {{ .Values.port | default -1 }}}]}
`,
	})))
	obj := e.create("one", map[string]any{"text": "x"})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	if err := e.client.Delete(e.Context(), obj); err != nil {
		t.Fatal(err)
	}
	obj = e.waitFor("one", helmoperator.ConditionDeletionBlocked, "True/UninstallError")
	if got, message := conditionOf(obj, helmoperator.ConditionReleaseFailed); got != "True/UninstallError" || !strings.Contains(message, "one-hook") {
		t.Errorf("ReleaseFailed is %s %q", got, message)
	}
	// The hook comes from the record of the release; without it, nothing is left to uninstall.
	if err := e.client.DeleteAllOf(e.Context(), &corev1.Secret{}, client.InNamespace(e.namespace), client.MatchingLabels{"owner": "helm"}); err != nil {
		t.Fatal(err)
	}
	e.waitGone(e.gvk.GroupVersion().String(), e.gvk.Kind, "one")
}

// writeChart writes a chart to a directory.
func writeChart(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestChartPath checks that a chart is loaded again after a change, and that resources can be deleted while it is missing.
func TestChartPath(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	dir := filepath.Join(t.TempDir(), "app")
	files := map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n", "values.yaml": "text: one\n", "templates/configmap.yaml": configMap,
	}
	writeChart(t, dir, files)
	stop := e.start(helmoperator.WithChartPath(dir), helmoperator.WithReconcilePeriod(100*time.Millisecond))
	e.create("one", nil)
	e.create("two", nil)
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.waitFor("two", helmoperator.ConditionReady, "True/ObjectsReady")
	writeChart(t, dir, map[string]string{"values.yaml": "text: changed\n"})
	e.waitFor("one", helmoperator.ConditionDeployed, "True/UpgradeSuccessful")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	obj := e.waitFor("one", helmoperator.ConditionIrreconcilable, "True/ReconcileError")
	if _, message := conditionOf(obj, helmoperator.ConditionIrreconcilable); !strings.Contains(message, "not found") {
		t.Errorf("message %q", message)
	}
	stop()
	// After a restart, the chart was never loaded.
	e.start(helmoperator.WithChartPath(dir), helmoperator.WithReconcilePeriod(100*time.Millisecond))
	e.delete("one")
	e.waitGone("v1", "ConfigMap", "one-config")
	// The error disappears with its cause.
	writeChart(t, dir, files)
	e.patch(e.waitFor("two", helmoperator.ConditionIrreconcilable, "True/ReconcileError"), "metadata: {annotations: {a: b}}")
	e.waitFor("two", helmoperator.ConditionIrreconcilable, "absent")
	e.waitFor("two", helmoperator.ConditionReady, "True/ObjectsReady")
}

// TestNamespaceDeleted checks that resources of a deleted namespace are removed.
func TestNamespaceDeleted(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(chart("app", "", map[string]string{"configmap.yaml": configMap, "role.yaml": clusterRole})))
	e.create("one", map[string]any{"text": "x"})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.namespace}}
	if err := e.client.Delete(e.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	e.eventually("the namespace is gone", func() error {
		err := e.client.Get(e.Context(), client.ObjectKey{Name: e.namespace}, namespace)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errNotYet
	})
	role := &unstructured.Unstructured{}
	role.SetAPIVersion("rbac.authorization.k8s.io/v1")
	role.SetKind("ClusterRole")
	if err := e.client.Get(e.Context(), client.ObjectKey{Name: e.namespace + "-one"}, role); !apierrors.IsNotFound(err) {
		t.Errorf("the ClusterRole remains (%v)", err)
	}
}

// TestNamespaceDeletedWhileStopped checks that the objects outside of a deleted namespace are deleted although the records of the
// release are gone, the chart is missing and its values are others.
func TestNamespaceDeletedWhileStopped(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	dir := filepath.Join(t.TempDir(), "app")
	const roles = `{{ range tuple "gone" "held" "kept" }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ $.Release.Namespace }}-{{ . }}-{{ $.Values.text }}
{{ end }}`
	writeChart(t, dir, map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n", "templates/configmap.yaml": configMap, "templates/roles.yaml": roles,
	})
	stop := e.start(helmoperator.WithChartPath(dir))
	e.create("one", map[string]any{"text": "x"}, func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(map[string]string{helmoperator.AnnotationUninstallWait: "true"})
	})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	stop()
	role := func(name string) *unstructured.Unstructured {
		obj := &unstructured.Unstructured{}
		obj.SetAPIVersion("rbac.authorization.k8s.io/v1")
		obj.SetKind("ClusterRole")
		obj.SetName(e.namespace + "-" + name + "-x")
		return obj
	}
	exists := func(name string) bool {
		obj := role(name)
		err := e.client.Get(e.Context(), client.ObjectKeyFromObject(obj), obj)
		if client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		return err == nil
	}
	e.patch(role("held"), "metadata: {finalizers: [example.com/hold]}")
	e.patch(role("kept"), "metadata: {annotations: {helm.sh/resource-policy: keep}}")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := e.client.Delete(e.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.namespace}}); err != nil {
		t.Fatal(err)
	}
	e.eventually("the records are gone", func() error {
		if len(e.revisions()) > 0 {
			return errNotYet
		}
		return nil
	})
	e.start(helmoperator.WithChartPath(dir))
	obj := e.waitFor("one", helmoperator.ConditionDeletionBlocked, "True/WaitingForObjects")
	if _, message := conditionOf(obj, helmoperator.ConditionDeletionBlocked); !strings.Contains(message, "-held-x") || strings.Contains(message, "-gone-x") {
		t.Errorf("message %q", message)
	}
	if exists("gone") || !exists("kept") {
		t.Errorf("exist: gone %t, kept %t", exists("gone"), exists("kept"))
	}
	e.patch(role("held"), "metadata: {finalizers: []}")
	e.waitGone(e.gvk.GroupVersion().String(), e.gvk.Kind, "one")
	if exists("held") {
		t.Error("the ClusterRole that was held remains")
	}
	if err := e.client.Delete(e.Context(), role("kept")); err != nil {
		t.Error(err)
	}
}
