package helmoperator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/helmoperator"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// existing creates the objects of a chart with configMap and scalable, and waits for the pod.
func (e *env) existing(name string) *corev1.Pod {
	e.Helper()
	e.apply(fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s-config, namespace: %s}, data: {text: secret-text, more: x}}", name, e.namespace))
	e.apply(fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: %[1]s, namespace: %[2]s}, spec: {selector: {matchLabels: {app: %[1]s}},
template: {metadata: {labels: {app: %[1]s}}, spec: {containers: [{name: main, image: "example.com/main:1"}]}}}}`, name, e.namespace))
	return e.pod(name)
}

// pod returns the only pod with a label app, which runs.
func (e *env) pod(app string) *corev1.Pod {
	e.Helper()
	var list corev1.PodList
	e.eventually("a pod of "+app, func() error {
		err := e.client.List(e.Context(), &list, client.InNamespace(e.namespace), client.MatchingLabels{"app": app})
		if err == nil && (len(list.Items) != 1 || list.Items[0].Status.Phase != corev1.PodRunning) {
			err = fmt.Errorf("%d pods", len(list.Items))
		}
		return err
	})
	return &list.Items[0]
}

// TestDocumentedOwnership takes objects over as the example of docs/helm.md says, and doesn't replace pods.
func TestDocumentedOwnership(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	pod := e.existing("one")
	e.startDocumented(&transport{}, "takeOwnership: enabled", "{text: a, replicas: 1}", map[string]string{"configmap.yaml": configMap, "deployment.yaml": scalable})
	e.create("one", nil)
	obj := e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	if got, message := conditionOf(obj, helmoperator.ConditionOwnershipConflict); got != "absent" {
		t.Errorf("condition %s: %s", got, message)
	}
	config, err := e.get("v1", "ConfigMap", "one-config")
	if got := fmt.Sprint(config.Object["data"]); err != nil || got != "map[more:x text:a]" {
		t.Errorf("data %s (%v)", got, err)
	}
	e.eventuallyEvents(helmoperator.EventOwnershipTaken, 1)
	if _, messages := e.counts(helmoperator.EventOwnershipTaken); !strings.Contains(messages, "Took over ConfigMap/one-config (written by ") ||
		!strings.Contains(messages, "; would change data.text), Deployment/one (") {
		t.Errorf("event %s", messages)
	}
	if after := e.pod("one"); after.UID != pod.UID {
		t.Error("the pod was replaced")
	}
	e.delete("one")
	e.waitGone("v1", "ConfigMap", "one-config")
	e.waitGone("apps/v1", "Deployment", "one")
}

// TestOwnershipReport reports existing objects once, without values, until they are gone.
func TestOwnershipReport(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.existing("one")
	before, err := e.get("v1", "ConfigMap", "one-config")
	if err != nil {
		t.Fatal(err)
	}
	e.start(helmoperator.WithTakeOwnership(release.OwnershipReport), helmoperator.WithReconcilePeriod(200*time.Millisecond),
		helmoperator.WithChart(chart("app", "{text: a, replicas: 1}", map[string]string{"configmap.yaml": configMap, "deployment.yaml": scalable})))
	e.create("one", nil)
	obj := e.waitFor("one", helmoperator.ConditionOwnershipConflict, "True/WouldTakeOwnership")
	_, message := conditionOf(obj, helmoperator.ConditionOwnershipConflict)
	if !strings.Contains(message, "; would change data.text), Deployment/one (written by ") || strings.Contains(message, "secret-text") {
		t.Errorf("message %s", message)
	}
	e.waitFor("one", helmoperator.ConditionReady, "False/InstallError")
	e.waitOperations("check", "error", 3)
	if n, messages := e.counts(helmoperator.ReasonInstallError); n != 1 || !strings.Contains(messages, "takeOwnership: report changes nothing") {
		t.Errorf("%d events: %s", n, messages)
	}
	if after, err := e.get("v1", "ConfigMap", "one-config"); err != nil || after.GetResourceVersion() != before.GetResourceVersion() {
		t.Errorf("the object was changed: %v (%v)", after.Object, err)
	}
	for _, object := range [][2]string{{"v1", "ConfigMap"}, {"apps/v1", "Deployment"}} {
		live, err := e.get(object[0], object[1], map[string]string{"ConfigMap": "one-config", "Deployment": "one"}[object[1]])
		if err == nil {
			err = e.client.Delete(e.Context(), live)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	obj = e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	if got, _ := conditionOf(obj, helmoperator.ConditionOwnershipConflict); got != "absent" {
		t.Errorf("condition %s", got)
	}
}
