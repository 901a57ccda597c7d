package helmoperator_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/operon-sdk/operon/pkg/helmoperator"
	"github.com/operon-sdk/operon/testdata/documented"
)

// annotate executes the command of docs/helm.md that sets or removes an annotation, with another value if it isn't empty.
func (e *env) annotate(name, annotation, value string) {
	e.Helper()
	patch := documented.Annotation(e.T, "helm.md", annotation, value)
	obj, err := e.resource(name)
	if err != nil {
		e.Fatal(err)
	}
	e.patch(obj, patch)
}

// pause pauses a resource and returns it.
func (e *env) pause(name string) *unstructured.Unstructured {
	e.Helper()
	e.annotate(name, "paused=", "")
	return e.waitFor(name, helmoperator.ConditionPaused, "True/"+helmoperator.ReasonPaused)
}

// about returns the requests about a resource and its release.
func about(seen []string, name string) []string {
	return slices.DeleteFunc(seen, func(r string) bool {
		return !strings.Contains(r, "/"+name) && !strings.Contains(r, "name%3D"+name)
	})
}

// TestPause leaves a resource, its release and its objects alone, whatever changes, also after a restart, and continues afterwards.
func TestPause(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	var requests requests
	start := func() func() {
		return e.startWith(requests.wrap(e.config), nil, []helmoperator.Option{
			helmoperator.WithGroupVersionKind(e.gvk), helmoperator.WithReconcilePeriod(100 * time.Millisecond),
			helmoperator.WithChart(chart("app", "", map[string]string{"configmap.yaml": configMap})),
		})
	}
	stop := start()
	obj := e.create("site", map[string]any{"text": "a"})
	e.waitFor("site", helmoperator.ConditionReady, "True/ObjectsReady")
	e.pause("site")

	config, err := e.get("v1", "ConfigMap", "site-config")
	if err != nil {
		t.Fatal(err)
	}
	e.patch(config, "data: {text: changed}")
	e.patch(obj, "spec: {text: b}")
	obj = e.waitFor("site", helmoperator.ConditionPaused, "True/"+helmoperator.ReasonPaused)
	requests.take()
	n := 0
	// untouched checks that nothing happens to the resource while another one is reconciled, several times.
	untouched := func() {
		t.Helper()
		n++
		other := fmt.Sprintf("other%d", n)
		e.create(other, map[string]any{"text": "x"})
		e.waitFor(other, helmoperator.ConditionReady, "True/ObjectsReady")
		var seen []string
		e.eventually("passes of another resource", func() error {
			if seen = append(seen, requests.take()...); len(about(slices.Clone(seen), other)) < 15 {
				return errNotYet
			}
			return nil
		})
		if sent := about(seen, "site"); len(sent) > 0 {
			t.Errorf("a paused resource causes %q", sent)
		}
		after, err := e.resource("site")
		if err != nil || after.GetResourceVersion() != obj.GetResourceVersion() {
			t.Errorf("the paused resource was written (%v): %v", err, after.Object["status"])
		}
		if config, err := e.get("v1", "ConfigMap", "site-config"); err != nil || text(config) != "changed" {
			t.Errorf("an object was changed: %v (%v)", config.Object["data"], err)
		}
	}
	untouched()
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, c := range conditions {
		if c := c.(map[string]any); c["type"] == "Ready" && (c["status"] != "True" || c["observedGeneration"] != int64(1)) {
			t.Errorf("Ready is %v, want the last result for the first generation", c)
		}
	}
	if observed, _, _ := unstructured.NestedInt64(obj.Object, "status", "observedGeneration"); observed != 1 {
		t.Errorf("observed generation %d, want the last one that was reconciled", observed)
	}
	stop()
	start()
	untouched()

	e.annotate("site", "paused-", "")
	e.waitFor("site", helmoperator.ConditionDeployed, "True/UpgradeSuccessful")
	e.waitFor("site", helmoperator.ConditionPaused, "absent")
	e.eventually("the objects are repaired", func() error {
		if config, err := e.get("v1", "ConfigMap", "site-config"); err != nil || text(config) != "b" {
			return fmt.Errorf("%v (%w)", config.Object["data"], err)
		}
		return nil
	})
	e.eventually("the event", func() error {
		if got, _ := e.counts(helmoperator.EventResumed); got != 1 {
			return fmt.Errorf("%d events Resumed, want %d", got, 1)
		}
		return nil
	})
	if got, _ := e.counts(helmoperator.EventPaused); got != 1 {
		t.Errorf("%d events Paused, want %d", got, 1)
	}

	// A deletion waits.
	e.pause("site")
	if err := e.client.Delete(e.Context(), obj); err != nil {
		t.Fatal(err)
	}
	obj = e.waitFor("site", helmoperator.ConditionDeletionBlocked, "True/"+helmoperator.ReasonPaused)
	if _, message := conditionOf(obj, helmoperator.ConditionPaused); !strings.Contains(message, "the deletion waits") {
		t.Errorf("message %q", message)
	}
	e.patch(config, "data: {text: changed}")
	requests.take()
	untouched()
	e.annotate("site", "paused-", "")
	apiVersion, kind := e.gvk.ToAPIVersionAndKind()
	e.waitGone(apiVersion, kind, "site")
	e.waitGone("v1", "ConfigMap", "site-config")
}

// TestPauseHook suspends a wait for a hook, whose Job goes on, and continues with its result.
func TestPauseHook(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(hookChart("pre-install")))
	e.create("one", map[string]any{"blocked": true})
	uid := e.waitForHook("one")
	e.pause("one")
	e.unblock("one")
	e.eventually("the job ends", func() error {
		if jobs := e.jobs("one-"); len(jobs) != 1 || jobs[0].Status.Succeeded != 1 {
			return fmt.Errorf("jobs %v", jobs)
		}
		return nil
	})
	e.create("two", nil)
	e.waitFor("two", helmoperator.ConditionReady, "True/ObjectsReady")
	if got := e.statuses("one"); strings.Contains(got, "deployed") {
		t.Errorf("revisions %s", got)
	}
	if _, err := e.get("v1", "ConfigMap", "one-config"); err == nil {
		t.Error("a paused release was installed")
	}
	e.annotate("one", "paused-", "")
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	if jobs := e.jobs("one-"); len(jobs) != 1 || jobs[0].UID != uid {
		t.Errorf("%d jobs of which the first is %s, want only %s", len(jobs), jobs[0].UID, uid)
	}
}

// TestPausedFromTheStart creates no release, and holds up no deletion.
func TestPausedFromTheStart(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(chart("app", "text: a", map[string]string{"configmap.yaml": configMap})))
	for name, after := range map[string]string{"one": "", "two": "paused-"} {
		e.create(name, nil, func(obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{helmoperator.AnnotationPaused: "true"})
		})
		obj := e.waitFor(name, helmoperator.ConditionReady, "Unknown/"+helmoperator.ReasonPaused)
		if observed, found, _ := unstructured.NestedInt64(obj.Object, "status", "observedGeneration"); found {
			t.Errorf("observed generation %d of a resource that was never reconciled", observed)
		}
		if len(obj.GetFinalizers()) > 0 || len(e.revisions()) > 0 {
			t.Errorf("finalizers %v, revisions %v", obj.GetFinalizers(), e.revisions())
		}
		if after != "" {
			e.annotate(name, after, "")
			e.waitFor(name, helmoperator.ConditionReady, "True/ObjectsReady")
			e.waitFor(name, helmoperator.ConditionPaused, "absent")
		}
		e.delete(name)
	}
}

// TestInvalidPause reports a value that is not a Boolean and changes nothing, not even if the resource is deleted.
func TestInvalidPause(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(chart("app", "text: a", map[string]string{"configmap.yaml": configMap})))
	obj := e.create("one", nil)
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.patch(obj, "{metadata: {annotations: {helm.sdk.operatorframework.io/paused: 'yes'}}, spec: {text: b}}")
	obj = e.waitFor("one", helmoperator.ConditionIrreconcilable, "True/ReconcileError")
	const want = `annotation helm.sdk.operatorframework.io/paused "yes": must be true or false`
	if _, message := conditionOf(obj, helmoperator.ConditionReady); message != want {
		t.Errorf("message %q", message)
	}
	if err := e.client.Delete(e.Context(), obj); err != nil {
		t.Fatal(err)
	}
	obj = e.waitFor("one", helmoperator.ConditionDeletionBlocked, "True/UninstallError")
	if _, message := conditionOf(obj, helmoperator.ConditionDeletionBlocked); message != want {
		t.Errorf("message %q", message)
	}
	if config, err := e.get("v1", "ConfigMap", "one-config"); err != nil || text(config) != "a" {
		t.Errorf("an object was changed: %v (%v)", config, err)
	}
	e.annotate("one", "paused-", "")
	apiVersion, kind := e.gvk.ToAPIVersionAndKind()
	e.waitGone(apiVersion, kind, "one")
}

// TestOvertakenPause doesn't write that a resource is paused if the annotation was removed in the meantime: nothing would correct that.
func TestOvertakenPause(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	var writes atomic.Int32
	config := rest.CopyConfig(e.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if request.Method != http.MethodPatch || !strings.HasSuffix(request.URL.Path, "/one/status") {
				return next.RoundTrip(request)
			}
			body, err := request.GetBody()
			if err != nil {
				return nil, err
			}
			data, err := io.ReadAll(body)
			if err != nil {
				return nil, err
			}
			if strings.Contains(string(data), helmoperator.ReasonPaused) && writes.Add(1) == 1 {
				e.annotate("one", "paused-", "")
			}
			return next.RoundTrip(request)
		})
	})
	e.startWith(config, nil, []helmoperator.Option{
		helmoperator.WithGroupVersionKind(e.gvk), helmoperator.WithChart(chart("app", "text: a", map[string]string{"configmap.yaml": configMap})),
	})
	obj := e.create("one", nil, func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(map[string]string{helmoperator.AnnotationPaused: "true"})
	})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.patch(obj, "spec: {text: b}") // whose pass is a later one
	e.waitFor("one", helmoperator.ConditionDeployed, "True/UpgradeSuccessful")
	e.waitFor("one", helmoperator.ConditionPaused, "absent")
	// Events are written in order.
	e.eventually("the events", func() error {
		if n, _ := e.counts(helmoperator.ReasonUpgradeSuccessful); n == 0 {
			return errNotYet
		}
		return nil
	})
	paused, _ := e.counts(helmoperator.EventPaused)
	resumed, _ := e.counts(helmoperator.EventResumed)
	if paused != 0 || resumed != 0 || writes.Load() != 1 {
		t.Errorf("%d writes, %d events Paused and %d events Resumed, want a refused write only", writes.Load(), paused, resumed)
	}
}
