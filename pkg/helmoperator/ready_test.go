package helmoperator_test

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/helmoperator"
)

// deployment has a pod that is ready when its condition is set. Failing pods never are.
const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-web
spec:
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      readinessGates: [{conditionType: example.com/ready}]
      containers: [{name: web, image: "example.com/web:{{ .Values.tag }}"}]
`

// TestReady checks that a release is Deployed at once, but Ready only with its pods.
func TestReady(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(chart("app", "tag: 1", map[string]string{"deployment.yaml": deployment, "configmap.yaml": configMap})))
	e.create("one", nil)
	e.waitFor("one", helmoperator.ConditionDeployed, "True/InstallSuccessful")
	obj := e.waitFor("one", helmoperator.ConditionReady, "False/InProgress")
	if _, message := conditionOf(obj, helmoperator.ConditionReady); !strings.HasPrefix(message, "Deployment one-web: ") {
		t.Errorf("message %q, want the object and the cause", message)
	}
	e.setPodReady("one", "True")
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	// A pod that fails later is noticed without a period, too.
	e.setPodReady("one", "False")
	e.waitFor("one", helmoperator.ConditionReady, "False/InProgress")
	if got := e.revisions(); len(got) != 1 {
		t.Errorf("revisions %v", got)
	}
}

// setPodReady sets the condition of the readiness gate of the pod of a release.
func (e *env) setPodReady(release, status string) {
	e.Helper()
	pods := &unstructured.UnstructuredList{}
	pods.SetAPIVersion("v1")
	pods.SetKind("PodList")
	e.eventually("the pod is patched", func() error {
		if err := e.client.List(e.Context(), pods, client.InNamespace(e.namespace), client.MatchingLabels{"app": release}); err != nil {
			return err
		}
		if len(pods.Items) == 0 {
			return errNotYet
		}
		pod := &pods.Items[0]
		conditions, _, _ := unstructured.NestedSlice(pod.Object, "status", "conditions")
		kept := []any{map[string]any{"type": "example.com/ready", "status": status}}
		running := false
		for _, c := range conditions {
			if m := c.(map[string]any); m["type"] != "example.com/ready" {
				kept = append(kept, m)
				running = running || m["type"] == "Ready"
			}
		}
		if !running {
			return errors.New("the pod does not run")
		}
		_ = unstructured.SetNestedSlice(pod.Object, kept, "status", "conditions")
		return e.client.Status().Update(e.Context(), pod)
	})
}

// TestReadyFailed checks that objects that failed for good are reported before objects in progress.
func TestReadyFailed(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(chart("app", "tag: 1", map[string]string{
		"deployment.yaml": deployment, "pod.yaml": "{apiVersion: v1, kind: Pod, metadata: {name: {{ .Release.Name }}-once}, spec: {readinessGates: [{conditionType: x.com/never}], containers: [{name: c, image: x}]}}",
	})))
	e.create("one", nil)
	e.waitFor("one", helmoperator.ConditionReady, "False/InProgress")
	pod, err := e.get("v1", "Pod", "one-once")
	if err != nil {
		t.Fatal(err)
	}
	e.eventually("the pod has failed", func() error {
		if pod, err = e.get("v1", "Pod", "one-once"); err != nil {
			return err
		}
		return e.client.Status().Patch(e.Context(), pod, client.RawPatch("application/merge-patch+json", []byte(`{"status": {"phase": "Failed"}}`)))
	})
	obj := e.waitFor("one", helmoperator.ConditionReady, "False/Failed")
	if _, message := conditionOf(obj, helmoperator.ConditionReady); !strings.HasPrefix(message, "Pod one-once: ") || !strings.HasSuffix(message, "(and 1 more object is not ready)") {
		t.Errorf("message %q", message)
	}
}
