package helmoperator_test

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/helmoperator"
)

// waitProblem waits until the condition Ready of a resource is False with a message that contains a text.
func (e *env) waitProblem(name, want string) {
	e.Helper()
	e.eventually("the message of "+name, func() error {
		obj, err := e.resource(name)
		if err != nil {
			return err
		}
		if got, message := conditionOf(obj, helmoperator.ConditionReady); !strings.HasPrefix(got, "False/") || !strings.Contains(message, want) {
			return fmt.Errorf("got %s (%s), want %s", got, message, want)
		}
		return nil
	})
}

// TestDocumentedTargetNamespace executes the example of cluster-scoped kinds in docs/helm.md: the release is in the namespace that the
// resource names, which owns all objects. It is repaired, waits for its namespace, stays where it is, and is removed there.
func TestDocumentedTargetNamespace(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.gvk.Kind = "Cluster" + e.gvk.Kind
	e.createCRD(e.gvk)
	clusterRole := strings.ToLower(e.gvk.Kind)
	e.startDocumented(&transport{}, "targetNamespaceFrom:", "{text: a}", map[string]string{
		"configmap.yaml": configMap, "role.yaml": "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: " + clusterRole + "}, rules: []}",
	})
	clusterScoped := func(obj *unstructured.Unstructured) { obj.SetNamespace("") }
	obj := e.create("one", map[string]any{"targetNamespace": "missing-" + e.namespace}, clusterScoped)
	e.waitProblem("one", "does not exist; create it, or correct the name")
	e.patch(obj.DeepCopy(), fmt.Sprintf("spec: {targetNamespace: %s}", e.namespace))
	obj = e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	if got, _, _ := unstructured.NestedString(obj.Object, "status", "deployedRelease", "namespace"); got != e.namespace || obj.GetAnnotations()[helmoperator.AnnotationTargetNamespace] != e.namespace {
		t.Errorf("namespace %q, annotations %v", got, obj.GetAnnotations())
	}
	if external, found, _ := unstructured.NestedSlice(obj.Object, "status", "deployedRelease", "externalObjects"); found {
		t.Errorf("objects that the resource doesn't own: %v", external)
	}
	config, err := e.get("v1", "ConfigMap", "one-config")
	if err != nil {
		t.Fatal(err)
	}
	role, err := e.get("rbac.authorization.k8s.io/v1", "ClusterRole", clusterRole)
	if err != nil {
		t.Fatal(err)
	}
	for _, owned := range []*unstructured.Unstructured{config, role} {
		if ref := metav1.GetControllerOf(owned); ref == nil || ref.UID != obj.GetUID() {
			t.Errorf("%s: owner %v", owned.GetKind(), ref)
		}
	}
	// Changes of owned objects start passes.
	e.patch(config.DeepCopy(), "data: {text: changed}")
	e.eventually("the ConfigMap is repaired", func() error {
		config, err := e.get("v1", "ConfigMap", "one-config")
		if err == nil && text(config) != "a" {
			err = fmt.Errorf("data %v", config.Object["data"])
		}
		return err
	})
	e.patch(obj.DeepCopy(), "spec: {targetNamespace: default}")
	e.waitProblem("one", fmt.Sprintf("is in the namespace %q and can't be moved to \"default\"", e.namespace))
	if err := e.client.Get(e.Context(), client.ObjectKey{Namespace: "default", Name: "one-config"}, config.DeepCopy()); !apierrors.IsNotFound(err) {
		t.Errorf("the ConfigMap in the other namespace: %v", err)
	}
	e.delete("one")
	e.waitGone("v1", "ConfigMap", "one-config")
	e.waitGone("rbac.authorization.k8s.io/v1", "ClusterRole", clusterRole)
}

// TestTargetOfNamespacedKind refuses a target for a resource in a namespace: its users could write to other namespaces.
func TestTargetOfNamespacedKind(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(chart("app", "text: a", map[string]string{"configmap.yaml": configMap})), helmoperator.WithTargetNamespace("default", ""))
	e.create("one", nil)
	e.waitProblem("one", "are for cluster-scoped kinds")
	e.delete("one")
}
