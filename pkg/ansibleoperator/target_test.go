package ansibleoperator_test

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/ansibleoperator"
	"github.com/operon-sdk/operon/testdata/documented"
)

// waitMessage waits until the condition Ready of a resource is False with a message that contains a text.
func (e *env) waitMessage(obj *unstructured.Unstructured, want string) {
	e.Helper()
	e.eventually(obj.GetName()+": "+want, func() error {
		current, err := e.read(obj)
		if err != nil {
			return err
		}
		if ready := conditionOf(current, "Ready"); ready["status"] != "False" || !strings.Contains(fmt.Sprint(ready["message"]), want) {
			return fmt.Errorf("status %v", current.Object["status"])
		}
		return nil
	})
}

// TestDocumentedTargetNamespace executes the example of cluster-scoped kinds in docs/ansible.md: runs write to the namespace that the
// resource names, which is also the one of their kubeconfig. The resource owns the objects, waits for its namespace, and stays there until its
// finalizer has run.
func TestDocumentedTargetNamespace(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "ClusterMemcached")
	e.role("memcached", `- kubernetes.core.k8s:
    state: "{{ state | default('present') }}"
    definition:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: one, namespace: "{{ ansible_operator_meta.namespace }}"}
      data: {text: "{{ (lookup('file', lookup('env', 'K8S_AUTH_KUBECONFIG')) | from_yaml).contexts[0].context.namespace }}"}
`)
	example := documented.Example(t, "ansible.md", "- version", "targetNamespaceFrom:")
	example = strings.NewReplacer("v1alpha1", "v1", "cache.example.com", "GROUP", "kind: Memcached", "kind: ClusterMemcached").Replace(example)
	e.start(strings.TrimRight(example, "\n") + "\n  reconcilePeriod: 0s\n  finalizer: {name: GROUP/finalizer, vars: {state: absent}}\n")
	obj := e.resource("ClusterMemcached", "one", "spec: {targetNamespace: missing-"+e.namespace+"}")
	e.waitMessage(obj, "does not exist; create it, or correct the name")
	e.patch(obj.DeepCopy(), "spec: {targetNamespace: "+e.namespace+"}")
	obj = e.waitReady(obj, "True/Successful")
	if got := obj.GetAnnotations()[ansibleoperator.AnnotationTargetNamespace]; got != e.namespace {
		t.Errorf("annotations %v", obj.GetAnnotations())
	}
	config, err := e.get("v1", "ConfigMap", "one")
	if err != nil {
		t.Fatal(err)
	}
	if owners := config.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != obj.GetUID() {
		t.Errorf("owners %v", owners)
	}
	checkNamespace := func() error {
		config, err := e.get("v1", "ConfigMap", "one")
		if text, _, _ := unstructured.NestedString(config.Object, "data", "text"); err == nil && text != e.namespace {
			err = fmt.Errorf("data %v", config.Object["data"])
		}
		return err
	}
	if err := checkNamespace(); err != nil {
		t.Errorf("kubeconfig: %v", err)
	}
	// Changes of owned objects start runs.
	e.patch(config, "data: {text: changed}")
	e.eventually("the ConfigMap is repaired", checkNamespace)
	e.patch(obj.DeepCopy(), "spec: {targetNamespace: default}")
	e.waitMessage(obj, fmt.Sprintf("is in the namespace %q and can't be moved to \"default\"", e.namespace))
	// The finalizer runs where the object is. Nothing collects objects on this control plane.
	e.delete(obj)
	if _, err := e.get("v1", "ConfigMap", "one"); !apierrors.IsNotFound(err) {
		t.Errorf("the ConfigMap: %v", err)
	}
	config.SetNamespace(metav1.NamespaceDefault)
	if _, err := e.read(config); !apierrors.IsNotFound(err) {
		t.Errorf("in the other namespace: %v", err)
	}
}

// TestTargetOfNamespacedKind refuses a target for a resource in a namespace: its users could write to other namespaces.
func TestTargetOfNamespacedKind(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "Memcached")
	e.role("memcached", "- ansible.builtin.file: {path: "+e.dir+"/ran, state: touch}\n")
	e.start("- {version: v1, group: GROUP, kind: Memcached, role: memcached, targetNamespace: default}\n")
	e.waitMessage(e.resource("Memcached", "one", ""), "are for cluster-scoped kinds")
}
