package helmoperator_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/helmoperator"
)

func TestLifecycle(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(chart("app", "text: default", map[string]string{
		"configmap.yaml": configMap, "NOTES.txt": "Installed with {{ .Values.text }}",
	})))
	e.create("one", map[string]any{"text": "first"})
	obj := e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	if got, message := conditionOf(obj, helmoperator.ConditionDeployed); got != "True/InstallSuccessful" || message != "Installed with first" {
		t.Errorf("Deployed is %s %q", got, message)
	}
	if got, _ := conditionOf(obj, helmoperator.ConditionInitialized); got != "True/" {
		t.Errorf("Initialized is %s", got)
	}
	for _, absent := range []string{helmoperator.ConditionIrreconcilable, helmoperator.ConditionReleaseFailed, helmoperator.ConditionDeterministic} {
		if got, message := conditionOf(obj, absent); got != "absent" {
			t.Errorf("%s is %s %q", absent, got, message)
		}
	}
	status := obj.Object["status"].(map[string]any)
	if status["observedGeneration"] != int64(1) || fmt.Sprint(status["deployedRelease"]) != "map[name:one]" {
		t.Errorf("status %v", status)
	}
	if !slices.Equal(obj.GetFinalizers(), []string{helmoperator.Finalizer}) {
		t.Errorf("finalizers %v", obj.GetFinalizers())
	}
	config, err := e.get("v1", "ConfigMap", "one-config")
	if err != nil {
		t.Fatal(err)
	}
	if owner := config.GetOwnerReferences(); len(owner) != 1 || owner[0].UID != obj.GetUID() || !*owner[0].Controller {
		t.Errorf("owner references %v", owner)
	}

	e.patch(obj, "spec: {text: second}")
	obj = e.waitFor("one", helmoperator.ConditionDeployed, "True/UpgradeSuccessful")
	if _, message := conditionOf(obj, helmoperator.ConditionDeployed); message != "Installed with second" {
		t.Errorf("message %q", message)
	}
	if config, err = e.get("v1", "ConfigMap", "one-config"); err != nil || text(config) != "second" {
		t.Errorf("got %v (%v)", config, err)
	}
	if got := e.revisions(); !slices.Equal(got, []string{"sh.helm.release.v1.one.v1", "sh.helm.release.v1.one.v2"}) {
		t.Errorf("revisions %v, want the history", got)
	}

	e.delete("one")
	e.waitGone("v1", "ConfigMap", "one-config")
	if got := e.revisions(); len(got) > 0 {
		t.Errorf("revisions %v remain", got)
	}
}

func text(config *unstructured.Unstructured) string {
	s, _, _ := unstructured.NestedString(config.Object, "data", "text")
	return s
}

// TestFinalizerBeforeInstall checks that a resource is protected even if its installation fails.
func TestFinalizerBeforeInstall(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(chart("app", "", map[string]string{
		"configmap.yaml": configMap,
		"invalid.yaml":   "{apiVersion: v1, kind: Service, metadata: {name: invalid}, spec: {ports: [{port: -1}]}}",
	})))
	e.create("one", nil)
	obj := e.waitFor("one", helmoperator.ConditionReleaseFailed, "True/InstallError")
	if !slices.Contains(obj.GetFinalizers(), helmoperator.Finalizer) {
		t.Errorf("finalizers %v", obj.GetFinalizers())
	}
	if _, message := conditionOf(obj, helmoperator.ConditionReleaseFailed); !strings.Contains(message, "ports[0].port") {
		t.Errorf("message %q, want the cause", message)
	}
	if got, _ := conditionOf(obj, helmoperator.ConditionReady); got != "False/InstallError" {
		t.Errorf("Ready is %s", got)
	}
	e.delete("one")
	e.waitGone("v1", "ConfigMap", "one-config")
}

// TestFinalizersOfPeers checks that both spellings are kept and removed.
func TestFinalizersOfPeers(t *testing.T) {
	t.Parallel()
	for _, finalizer := range []string{helmoperator.Finalizer, helmoperator.LegacyFinalizer} {
		t.Run(strings.ReplaceAll(finalizer, "/", "_"), func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.create("one", map[string]any{"text": "x"}, func(obj *unstructured.Unstructured) { obj.SetFinalizers([]string{finalizer}) })
			e.start(helmoperator.WithChart(chart("app", "", map[string]string{"configmap.yaml": configMap})))
			obj := e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
			if !slices.Equal(obj.GetFinalizers(), []string{finalizer}) {
				t.Errorf("finalizers %v", obj.GetFinalizers())
			}
			e.delete("one")
			e.waitGone("v1", "ConfigMap", "one-config")
		})
	}
}

// TestForeignStatus checks that keys and conditions of others are kept, and that the manifest of the peer is removed.
func TestForeignStatus(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	obj := e.create("one", map[string]any{"text": "x"})
	e.patch(obj, `status: {phase: Running, conditions: [{type: Other, status: "True"}], deployedRelease: {name: one, manifest: "data: {password: c2VjcmV0}"}}`, "status")
	e.start(helmoperator.WithChart(chart("app", "", map[string]string{"configmap.yaml": configMap})))
	obj = e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	status := obj.Object["status"].(map[string]any)
	if status["phase"] != "Running" || fmt.Sprint(status["conditions"].([]any)[0]) != "map[status:True type:Other]" ||
		fmt.Sprint(status["deployedRelease"]) != "map[name:one]" {
		t.Errorf("status %v", status)
	}
}

var errNotYet = errors.New("not yet")

// TestStatusConflict checks that the status of others survives when both write at the same time.
func TestStatusConflict(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(chart("app", "", map[string]string{"configmap.yaml": configMap})))
	obj := e.create("one", map[string]any{"text": "x"})
	for i := range 50 {
		e.patch(obj, fmt.Sprintf("{status: {phase: phase-%d}}", i), "status")
		if i%10 == 0 {
			e.patch(obj, fmt.Sprintf("{spec: {text: text-%d}}", i))
		}
	}
	obj = e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.eventually("the last spec is deployed", func() error {
		config, err := e.get("v1", "ConfigMap", "one-config")
		if err == nil && text(config) != "text-40" {
			err = errNotYet
		}
		return err
	})
	if phase, _, _ := unstructured.NestedString(obj.Object, "status", "phase"); phase != "phase-49" {
		t.Errorf("phase %q", phase)
	}
}
