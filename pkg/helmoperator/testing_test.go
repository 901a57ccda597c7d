package helmoperator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/helmoperator"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
	"github.com/operon-sdk/operon/pkg/outputs"
)

// testJob is a template of a test, which doesn't run while the value blocked is true, and fails if the value fail is.
const testJob = `apiVersion: batch/v1
kind: Job
metadata: {name: {{ .Release.Name }}-test, annotations: {helm.sh/hook: test{{ with .Values.policy }}, helm.sh/hook-delete-policy: {{ . }}{{ end }}}}
spec:
  suspend: {{ .Values.blocked | default false }}
  {{- if .Values.fail }}
  activeDeadlineSeconds: 1
  {{- end }}
  template:
    spec:
      restartPolicy: Never
      {{- if .Values.fail }}
      nodeSelector: {missing: node}
      {{- end }}
      containers: [{name: test, image: example.com/test}]
`

func testedChart() *chartv2.Chart {
	return chart("app", "text: x", map[string]string{"configmap.yaml": configMap, "test.yaml": testJob})
}

func tests(change ...func(*helmoperator.Tests)) helmoperator.Option {
	t := helmoperator.Tests{Enable: true}
	for _, c := range change {
		c(&t)
	}
	return helmoperator.WithTests(t)
}

// wantJobs waits until Jobs have been created, and checks that there are no more.
func (e *env) wantJobs(c *transport, want int32) {
	e.Helper()
	if got := c.jobs.Load(); got != want {
		e.Errorf("%d jobs were created, want %d", got, want)
	}
}

// TestDocumentedTests tests each revision once, as the example of docs/helm.md says, also across a restart.
func TestDocumentedTests(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	c := &transport{}
	e.startDocumented(c, "test: {enable: true", "text: a", map[string]string{"configmap.yaml": configMap, "test.yaml": testJob})
	obj := e.create("one", nil)
	e.waitFor("one", helmoperator.ConditionTestSuccess, "True/TestSucceeded")
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.wantJobs(c, 1)
	config, err := e.get("v1", "ConfigMap", "one-config")
	if err != nil {
		t.Fatal(err)
	}
	e.patch(config, "data: {text: drift}")
	e.eventuallyEvents(helmoperator.EventDriftRepaired, 1)
	e.patch(obj, "spec: {unused: true}")
	e.waitFor("one", helmoperator.ConditionTestSuccess, "True/TestSucceeded")
	e.wantJobs(c, 1)
	e.patch(obj, "spec: {text: b}")
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.waitFor("one", helmoperator.ConditionTestSuccess, "True/TestSucceeded")
	e.wantJobs(c, 2)
	e.eventuallyEvents(helmoperator.ReasonTestSucceeded, 2)
	e.delete("one")
	e.waitGone("batch/v1", "Job", "one-test")
}

// TestTestsHoldNoWorker has a blocked test: other resources go on, and the next process adopts the running test.
func TestTestsHoldNoWorker(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	c := &transport{}
	options := []helmoperator.Option{tests(), helmoperator.WithChart(testedChart()), helmoperator.WithReconcilePeriod(200 * time.Millisecond)}
	stop := e.startCounting(c, options...)
	obj := e.create("one", map[string]any{"blocked": true, "policy": "hook-succeeded"})
	uid := e.waitForHook("one")
	e.waitFor("one", helmoperator.ConditionTestSuccess, "Unknown/TestPending")
	e.create("two", nil)
	e.waitFor("two", helmoperator.ConditionTestSuccess, "True/TestSucceeded")
	stop()
	e.startCounting(c, options...)
	if again := e.waitForHook("one"); again != uid {
		t.Error("the test was started again")
	}
	e.unblock("one")
	e.waitFor("one", helmoperator.ConditionTestSuccess, "True/TestSucceeded")
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.waitGone("batch/v1", "Job", "one-test")
	e.wantJobs(c, 2)
	if got := e.statuses("one"); got != "1 deployed" {
		t.Errorf("revisions %s", got)
	}

	e.patch(obj, "spec: {text: changed, policy: before-hook-creation}")
	e.waitForHook("one")
	e.patch(obj, "spec: {text: again, blocked: false}") // ends the wait
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.waitFor("one", helmoperator.ConditionTestSuccess, "True/TestSucceeded")
	if got := e.statuses("one"); got != "1 superseded, 2 superseded, 3 deployed" {
		t.Errorf("revisions %s", got)
	}
	e.patch(obj, "spec: {blocked: true, text: x}")
	e.waitForHook("one")
	e.delete("one")
	e.waitGone("batch/v1", "Job", "one-test")
}

// TestFailedTest rolls an upgrade back as often as the retries allow, also across a restart. There is one event for the failure, and one at the end of the retries.
func TestFailedTest(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	c := &transport{}
	options := []helmoperator.Option{
		tests(), helmoperator.WithChart(testedChart()), helmoperator.WithMaxReleaseHistory(1), helmoperator.WithReconcilePeriod(200 * time.Millisecond),
		helmoperator.WithUpgradeRemediation(helmoperator.Remediation{Retries: 1}),
		helmoperator.WithOutputs(outputs.Output{Name: "text", From: "{{ .Values.text }}", Type: "string"}),
	}
	stop := e.startCounting(c, options...)
	obj := e.create("one", map[string]any{"text": "a"})
	e.waitFor("one", helmoperator.ConditionTestSuccess, "True/TestSucceeded")
	e.patch(obj, "spec: {text: b, fail: true}")
	exhausted := func() {
		e.Helper()
		e.eventually("the retries have failed", func() error {
			obj, err := e.resource("one")
			if _, message := conditionOf(obj, helmoperator.ConditionReleaseFailed); err == nil && (!strings.Contains(message, "not tried again") ||
				!strings.Contains(message, "Job/") || !strings.Contains(message, "rolled back to revision")) {
				err = fmt.Errorf("status %v", obj.Object["status"])
			}
			return err
		})
	}
	exhausted()
	e.waitOutputs("one", `{"text":"a"}`) // of the revision that is deployed again
	obj = e.waitFor("one", helmoperator.ConditionTestSuccess, "False/TestFailed")
	if failed := failedRelease(obj); failed["failures"] != int64(2) || failed["action"] != "Upgrade" {
		t.Errorf("failed release %v", failed)
	}
	config, err := e.get("v1", "ConfigMap", "one-config")
	if err != nil || text(config) != "a" {
		t.Errorf("%v (%v), want a rollback", config.Object, err)
	}
	e.wantJobs(c, 3)
	stop()
	e.startCounting(c, options...)
	e.patch(config, "data: {text: drift}") // the deployed revision is repaired
	e.eventually("a repair", func() error {
		if config, err = e.get("v1", "ConfigMap", "one-config"); err == nil && text(config) != "a" {
			err = errNotYet
		}
		return err
	})
	exhausted()
	e.wantJobs(c, 3)
	if n, messages := e.counts(helmoperator.ReasonUpgradeError); n != 2 || strings.Count(messages, "not tried again") != 1 {
		t.Errorf("%d events: %s", n, messages)
	}
	if n, _ := e.counts(helmoperator.ReasonTestFailed); n != 0 {
		t.Errorf("%d events of the test", n)
	}
	e.patch(obj, "spec: {fail: false}")
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	obj = e.waitFor("one", helmoperator.ConditionTestSuccess, "True/TestSucceeded")
	if failed := failedRelease(obj); failed != nil {
		t.Errorf("failed release %v", failed)
	}
}

// TestFailedTestOfInstall uninstalls the release, and gives back what it has taken over.
func TestFailedTestOfInstall(t *testing.T) {
	t.Parallel()
	for _, strategy := range []release.Strategy{release.StrategyUninstall, release.StrategyNone} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			c := &transport{}
			config := e.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: one-config, namespace: " + e.namespace + "}, data: {text: theirs}}")
			options := []helmoperator.Option{
				tests(), helmoperator.WithChart(testedChart()), helmoperator.WithTakeOwnership(release.OwnershipEnabled),
				helmoperator.WithInstallRemediation(helmoperator.Remediation{Strategy: strategy}), helmoperator.WithReconcilePeriod(200 * time.Millisecond),
			}
			e.startCounting(c, options...)
			e.create("one", map[string]any{"text": "a", "fail": true})
			e.waitFor("one", helmoperator.ConditionTestSuccess, "False/TestFailed")
			obj := e.waitFor("one", helmoperator.ConditionReleaseFailed, "True/InstallError")
			e.waitOperations("check", "success", 1)
			e.wantJobs(c, 1)
			live, err := e.get("v1", "ConfigMap", "one-config")
			if err != nil || live.GetUID() != config.GetUID() {
				t.Fatalf("%v (%v), want the object of others", live.Object, err)
			}
			deployed, _ := conditionOf(obj, helmoperator.ConditionDeployed)
			if strategy == release.StrategyNone {
				if text(live) != "a" || e.statuses("one") != "1 failed" {
					t.Errorf("%v, revisions %s", live.Object, e.statuses("one"))
				}
			} else if text(live) != "theirs" || len(live.GetOwnerReferences()) > 0 || e.statuses("one") != "" || deployed != "False/UninstallSuccessful" {
				t.Errorf("%v, revisions %s, condition %s", live.Object, e.statuses("one"), deployed)
			}
			e.delete("one")
			if live, err = e.get("v1", "ConfigMap", "one-config"); err != nil || text(live) != "theirs" || live.GetUID() != config.GetUID() {
				t.Errorf("%v (%v), want the object of others", live.Object, err)
			}
			e.waitGone("batch/v1", "Job", "one-test")
		})
	}
}

// TestIgnoredTest reports a failed test, once, and keeps the release. The annotation of another resource turns the tests off.
func TestIgnoredTest(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	c := &transport{}
	e.startCounting(c, tests(func(t *helmoperator.Tests) { t.IgnoreFailures, t.Timeout = true, 2*time.Second }), helmoperator.WithChart(testedChart()),
		helmoperator.WithReconcilePeriod(100*time.Millisecond))
	e.create("one", map[string]any{"blocked": true}) // times out
	e.waitFor("one", helmoperator.ConditionTestSuccess, "False/TestFailed")
	obj := e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	if _, message := conditionOf(obj, helmoperator.ConditionTestSuccess); !strings.Contains(message, "timed out waiting for the test hook Job/") {
		t.Errorf("message %s", message)
	}
	e.create("two", nil, func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(map[string]string{helmoperator.AnnotationTest: "false"})
	})
	obj = e.waitFor("two", helmoperator.ConditionReady, "True/ObjectsReady")
	if got, _ := conditionOf(obj, helmoperator.ConditionTestSuccess); got != "absent" {
		t.Errorf("condition %s", got)
	}
	e.waitOperations("repair", "success", 0)
	e.wantJobs(c, 1)
	if n, messages := e.counts(helmoperator.ReasonTestFailed); n != 1 {
		t.Errorf("%d events: %s", n, messages)
	}
}

// TestTestsWaitForObjects runs tests when the objects of the release are ready, not before.
func TestTestsWaitForObjects(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	c := &transport{}
	e.startCounting(c, tests(), helmoperator.WithChart(chart("app", "replicas: 1", map[string]string{
		"deployment.yaml": strings.Replace(scalable, "spec: {containers", "spec: {schedulingGates: [{name: example.com/wait}], containers", 1),
		"test.yaml":       testJob,
	})))
	e.create("one", nil)
	e.waitFor("one", helmoperator.ConditionTestSuccess, "Unknown/TestPending")
	e.waitFor("one", helmoperator.ConditionReady, "False/InProgress")
	e.wantJobs(c, 0)
	// Only the status of the Deployment changes when the pod runs.
	e.eventually("the gate of the pod is removed", func() error {
		var pods corev1.PodList
		err := e.client.List(e.Context(), &pods, client.InNamespace(e.namespace), client.MatchingLabels{"app": "one"})
		if err == nil && len(pods.Items) != 1 {
			err = errNotYet
		}
		if err != nil {
			return err
		}
		return e.client.Patch(e.Context(), &pods.Items[0], client.RawPatch(types.MergePatchType, []byte(`{"spec":{"schedulingGates":[]}}`)))
	})
	e.waitFor("one", helmoperator.ConditionTestSuccess, "True/TestSucceeded")
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.wantJobs(c, 1)
}
