package helmoperator_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/helmoperator"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// scalable is a template of a Deployment with the values "replicas" and "image".
const scalable = `apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec: {containers: [{name: main, image: {{ .Values.image | default "example.com/main:1" | quote }}}]}
`

// TestDriftWarn checks that drift is reported and left alone until the mode changes, with requests only when something changes.
func TestDriftWarn(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	var requests requests
	e.startWith(requests.wrap(e.config), nil, []helmoperator.Option{
		helmoperator.WithGroupVersionKind(e.gvk), helmoperator.WithReconcilePeriod(200 * time.Millisecond),
		helmoperator.WithDriftDetection(release.DriftWarn),
		helmoperator.WithChart(chart("app", "", map[string]string{"configmap.yaml": configMap, "service.yaml": "{apiVersion: v1, kind: ServiceAccount, metadata: {name: {{ .Release.Name }}}}"})),
	})
	e.create("one", map[string]any{"text": "x"})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	config, err := e.get("v1", "ConfigMap", "one-config")
	if err != nil {
		t.Fatal(err)
	}
	e.patch(config, "data: {text: changed, more: x}")
	obj := e.waitFor("one", helmoperator.ConditionDrifted, "True/DriftDetected")
	if _, message := conditionOf(obj, helmoperator.ConditionDrifted); message != "Changed by others and not repaired: ConfigMap/"+e.namespace+"/one-config (data.text)" {
		t.Errorf("message %q", message)
	}
	e.eventuallyEvents(helmoperator.EventDriftDetected, 1)
	e.waitMetric("helm_operator_release_drifted_objects_total", 1.0, "action", "reported")
	requests.take()
	e.eventually("passes that only read records", func() error {
		seen := requests.take()
		for _, request := range seen {
			if !strings.HasPrefix(request, http.MethodGet) {
				t.Errorf("a pass without changes sends %s", request)
			}
			if !strings.Contains(request, "/secrets?") {
				return errors.New(request)
			}
		}
		if len(seen) == 0 {
			return errNotYet
		}
		time.Sleep(time.Second)
		return nil
	})
	account, err := e.get("v1", "ServiceAccount", "one")
	if err == nil {
		err = e.client.Delete(e.Context(), account)
	}
	if err != nil {
		t.Fatal(err)
	}
	e.eventually("the deletion is reported", func() error {
		if obj, err = e.resource("one"); err != nil {
			return err
		}
		if _, message := conditionOf(obj, helmoperator.ConditionDrifted); !strings.HasSuffix(message, "ServiceAccount/"+e.namespace+"/one (is missing)") {
			return errors.New(message)
		}
		return nil
	})
	if config, err = e.get("v1", "ConfigMap", "one-config"); err != nil || text(config) != "changed" {
		t.Errorf("the ConfigMap was repaired: %v (%v)", config.Object["data"], err)
	}
	e.patch(obj, `metadata: {annotations: {helm.sdk.operatorframework.io/drift-detection: enabled}}`)
	e.waitFor("one", helmoperator.ConditionDrifted, "absent")
	for _, check := range []func() error{
		func() error { _, err := e.get("v1", "ServiceAccount", "one"); return err },
		func() error {
			if config, err = e.get("v1", "ConfigMap", "one-config"); err != nil || text(config) != "x" {
				return fmt.Errorf("%v (%w)", config.Object["data"], err)
			}
			return nil
		},
	} {
		e.eventually("the object is repaired", check)
	}
	if got := e.revisions(); len(got) != 1 {
		t.Errorf("revisions %v, want no upgrade", got)
	}
}

// TestDriftDisabled checks that drift is neither reported nor repaired, until an upgrade applies all objects.
func TestDriftDisabled(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithReconcilePeriod(100*time.Millisecond), helmoperator.WithDriftDetection(release.DriftDisabled),
		helmoperator.WithChart(chart("app", "", map[string]string{"configmap.yaml": configMap, "deployment.yaml": scalable})))
	e.create("one", map[string]any{"text": "x", "replicas": 0})
	obj := e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	config, err := e.get("v1", "ConfigMap", "one-config")
	if err != nil {
		t.Fatal(err)
	}
	e.patch(config, "data: {text: changed}")
	e.patch(obj, "spec: {replicas: 1}")
	e.waitFor("one", helmoperator.ConditionDeployed, "True/UpgradeSuccessful")
	// The next change is handled after the previous one.
	e.patch(config, "data: {text: again}")
	e.patch(obj, "spec: {replicas: 0}")
	e.eventually("three revisions", func() error {
		if n := len(e.revisions()); n != 3 {
			return fmt.Errorf("%d revisions", n)
		}
		return nil
	})
	e.waitFor("one", helmoperator.ConditionDrifted, "absent")
	if n := len(e.events(helmoperator.EventDriftRepaired)) + len(e.events(helmoperator.EventDriftDetected)); n > 0 {
		t.Errorf("%d events about drift", n)
	}
}

// setScale scales a Deployment as a field manager.
func (e *env) setScale(name, manager string, replicas int) {
	e.Helper()
	obj, err := e.get("apps/v1", "Deployment", name)
	if err != nil {
		e.Fatal(err)
	}
	scale := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": map[string]any{"replicas": int64(replicas)}}}
	scale.SetName(name)
	scale.SetNamespace(e.namespace)
	if err := e.client.SubResource("scale").Update(context.WithoutCancel(e.Context()), obj, client.WithSubResourceBody(scale), client.FieldOwner(manager)); err != nil {
		e.Fatal(err)
	}
}

func (e *env) replicas(name string) (int64, error) {
	obj, err := e.get("apps/v1", "Deployment", name)
	if err != nil {
		return 0, err
	}
	n, _, err := unstructured.NestedInt64(obj.Object, "spec", "replicas")
	return n, err
}

// waitReplicas waits for the replicas of a Deployment.
func (e *env) waitReplicas(name string, want int64) {
	e.Helper()
	e.eventually(fmt.Sprintf("%s has %d replicas", name, want), func() error {
		if got, err := e.replicas(name); err != nil || got != want {
			return fmt.Errorf("%d (%w)", got, err)
		}
		return nil
	})
}

// TestAutoscaled checks that the replicas that an autoscaler has set are neither repaired nor reset by upgrades, unless the upgrade
// changes the number.
func TestAutoscaled(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithReconcilePeriod(100*time.Millisecond), helmoperator.WithChart(chart("app", "", map[string]string{
		"configmap.yaml": configMap, "deployment.yaml": scalable,
	})))
	e.create("one", map[string]any{"text": "x", "replicas": 2})
	obj := e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.setScale("one", "kubectl", 3)
	e.waitReplicas("one", 2)
	e.eventuallyEvents(helmoperator.EventDriftRepaired, 1)

	e.setScale("one", "kube-controller-manager", 4)
	config, err := e.get("v1", "ConfigMap", "one-config")
	if err != nil {
		t.Fatal(err)
	}
	e.patch(config, "data: {text: changed}")
	e.eventuallyEvents(helmoperator.EventDriftRepaired, 2) // in a pass that has seen the replicas
	e.waitReplicas("one", 4)
	e.patch(obj, `spec: {image: "example.com/main:2"}`)
	e.waitFor("one", helmoperator.ConditionDeployed, "True/UpgradeSuccessful")
	e.eventually("the image is upgraded", func() error {
		deployment, err := e.get("apps/v1", "Deployment", "one")
		if err == nil && !strings.Contains(fmt.Sprint(deployment.Object["spec"]), "main:2") {
			err = errNotYet
		}
		return err
	})
	if n, err := e.replicas("one"); err != nil || n != 4 {
		t.Errorf("%d replicas after an upgrade (%v), want 4", n, err)
	}
	e.patch(obj, "spec: {replicas: 1}")
	e.waitReplicas("one", 1)
}

// TestAutoscaledByChart checks that an autoscaler of the chart owns the replicas from the start.
func TestAutoscaledByChart(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithReconcilePeriod(100*time.Millisecond), helmoperator.WithChart(chart("app", "", map[string]string{
		"configmap.yaml": configMap, "deployment.yaml": scalable, "autoscaler.yaml": `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: {{ .Release.Name }}}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: {{ .Release.Name }}}, maxReplicas: 9}
`,
	})))
	e.create("one", map[string]any{"text": "x", "replicas": 2})
	e.eventually("it is deployed", func() error { _, err := e.replicas("one"); return err })
	obj := e.waitFor("one", helmoperator.ConditionDeployed, "True/InstallSuccessful")
	e.setScale("one", "scaler", 4)
	config, err := e.get("v1", "ConfigMap", "one-config")
	if err != nil {
		t.Fatal(err)
	}
	e.patch(config, "data: {text: changed}")
	e.eventuallyEvents(helmoperator.EventDriftRepaired, 1)
	e.waitReplicas("one", 4)
	e.patch(obj, "spec: {replicas: 3}")
	e.waitFor("one", helmoperator.ConditionDeployed, "True/UpgradeSuccessful")
	e.waitReplicas("one", 4)
}

// TestDriftIgnored checks that fields of a rule are left to others, and other fields of the same object are repaired.
func TestDriftIgnored(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithReconcilePeriod(100*time.Millisecond),
		helmoperator.WithDriftDetection(release.DriftEnabled,
			release.IgnoreRule{Paths: []string{"/spec/replicas", "/spec/template/spec/containers/0/image"}, Kind: "Deployment"},
			release.IgnoreRule{Paths: []string{""}, Kind: "ConfigMap"}),
		helmoperator.WithChart(chart("app", "", map[string]string{"configmap.yaml": configMap, "deployment.yaml": scalable})))
	e.create("one", map[string]any{"text": "x", "replicas": 1})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	obj, err := e.get("apps/v1", "Deployment", "one")
	if err != nil {
		t.Fatal(err)
	}
	config, err := e.get("v1", "ConfigMap", "one-config")
	if err != nil {
		t.Fatal(err)
	}
	e.patch(config, "data: {text: changed}")
	e.patch(obj, `{spec: {replicas: 3, template: {metadata: {labels: {more: x}}, spec: {containers: [{name: main, image: "example.com/other"}]}}}, metadata: {labels: {app.kubernetes.io/managed-by: other}}}`)
	e.eventually("the label is repaired", func() error {
		if obj, err = e.get("apps/v1", "Deployment", "one"); err == nil && obj.GetLabels()["app.kubernetes.io/managed-by"] != "Helm" {
			err = errNotYet
		}
		return err
	})
	if n, err := e.replicas("one"); err != nil || n != 3 || !strings.Contains(fmt.Sprint(obj.Object["spec"]), "example.com/other") {
		t.Errorf("%d replicas (%v), spec %v", n, err, obj.Object["spec"])
	}
	if config, err = e.get("v1", "ConfigMap", "one-config"); err != nil || text(config) != "changed" {
		t.Errorf("the ConfigMap was repaired: %v (%v)", config.Object["data"], err)
	}
}
