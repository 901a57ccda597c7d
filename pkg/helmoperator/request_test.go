package helmoperator_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/helmoperator"
)

// waitHandled waits until a value of the annotation reconcile-requested-at was handled, and the failed operation has failed n times.
func (e *env) waitHandled(name, value string, failures int64) *unstructured.Unstructured {
	e.Helper()
	var obj *unstructured.Unstructured
	e.eventually("the request "+value, func() (err error) {
		if obj, err = e.resource(name); err != nil {
			return err
		}
		handled, _, _ := unstructured.NestedString(obj.Object, "status", customresource.StatusHandled)
		failed := failedRelease(obj)
		if got, _ := failed["failures"].(int64); handled != value || got != failures || failed["retryRequested"] != nil {
			return fmt.Errorf("status %v, want %s and %d failures", obj.Object["status"], value, failures)
		}
		return nil
	})
	return obj
}

// TestRequestedRetry tries a failed upgrade once more for each new value of an annotation, also if it is interrupted by a transient
// failure or a pause, and not again after a restart.
func TestRequestedRetry(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	var failing, unreadable atomic.Bool
	c := &transport{}
	c.intercept = func(request *http.Request) int {
		if request.Method == http.MethodPost && strings.HasSuffix(request.URL.Path, "/jobs") && failing.CompareAndSwap(true, false) {
			c.jobs.Add(-1)
			return http.StatusServiceUnavailable
		}
		if strings.Contains(request.URL.RawQuery, "name%3Done") && unreadable.CompareAndSwap(true, false) {
			return http.StatusServiceUnavailable
		}
		return 0
	}
	options := []helmoperator.Option{failingChart("pre-upgrade"), helmoperator.WithReconcilePeriod(100 * time.Millisecond)}
	stop := e.startCounting(c, options...)
	obj := e.create("one", nil)
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.patch(obj, "spec: {text: b, fail: true}")
	e.waitHandled("one", "", 1)
	ran := func(jobs int32) {
		t.Helper()
		e.waitOperations("check", "success", 3)
		if got := c.jobs.Load(); got != jobs {
			t.Errorf("the job ran %d times, want %d", got, jobs)
		}
	}
	ran(1)
	e.annotate("one", "reconcile-requested-at=", "a")
	e.waitHandled("one", "a", 2)
	ran(2)
	stop()
	stop = e.startCounting(c, options...)
	ran(2)
	stop()
	failing.Store(true)
	unreadable.Store(true) // in the first pass of an operator, which is the requested one
	e.annotate("one", "reconcile-requested-at=", "b")
	stop = e.startCounting(c, options...)
	obj = e.waitHandled("one", "b", 3)
	ran(3)
	if failing.Load() || unreadable.Load() {
		t.Error("requests have not failed")
	}
	if _, message := conditionOf(obj, helmoperator.ConditionReleaseFailed); !strings.Contains(message, "not tried again") {
		t.Errorf("message %q", message)
	}
	// A pause is stronger.
	e.pause("one")
	e.annotate("one", "reconcile-requested-at=", "c")
	e.create("two", nil)
	e.waitFor("two", helmoperator.ConditionReady, "True/ObjectsReady")
	e.waitHandled("one", "b", 3)
	e.annotate("one", "paused-", "")
	e.waitHandled("one", "c", 4)
	ran(4)
	stop()

	// A schema that drops the field: the value is handled once per process.
	crd := &unstructured.Unstructured{}
	crd.SetAPIVersion("apiextensions.k8s.io/v1")
	crd.SetKind("CustomResourceDefinition")
	crd.SetName(strings.ToLower(e.gvk.Kind) + "s." + e.gvk.Group)
	e.patch(crd, fmt.Sprintf(`spec: {versions: [{name: %s, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {
  spec: {type: object, x-kubernetes-preserve-unknown-fields: true},
  status: {type: object, properties: {
    observedGeneration: {type: integer},
    conditions: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}},
    deployedRelease: {type: object, x-kubernetes-preserve-unknown-fields: true},
    failedRelease: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}}]}`, e.gvk.Version))
	e.eventually("the API server drops the field", func() error {
		obj, err := e.resource("one")
		if err != nil {
			return err
		}
		e.patch(obj, "status: {lastHandledReconcileAt: x, observedGeneration: 0}", "status")
		if handled, found, _ := unstructured.NestedString(obj.Object, "status", customresource.StatusHandled); found {
			return fmt.Errorf("it is %q", handled)
		}
		return nil
	})
	var requests requests
	e.startWith(requests.wrap(c.wrap(e.config)), nil, append([]helmoperator.Option{helmoperator.WithGroupVersionKind(e.gvk)}, options...))
	e.waitHandled("one", "", 5)
	ran(5)
	requests.take()
	ran(5)
	ran(5)
	if writes := slices.DeleteFunc(about(requests.take(), "one"), func(r string) bool { return !strings.Contains(r, "/status") }); len(writes) > 0 {
		t.Errorf("writes of the status: %q", writes)
	}
}

// TestRequestedPass reads what no watch and no period reports.
func TestRequestedPass(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithDryRunOption("server"), helmoperator.WithChart(chart("app", "", map[string]string{
		"configmap.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-config}
data:
  text: {{ (lookup "v1" "ConfigMap" .Release.Namespace "source").data.text | quote }}
`,
	})))
	source := e.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: source, namespace: " + e.namespace + "}, data: {text: a}}")
	e.create("one", nil)
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	for _, value := range []string{"b", "c"} {
		e.patch(source, "data: {text: "+value+"}")
		e.annotate("one", "reconcile-requested-at=", value)
		// The value is written when the upgrade begins, and Ready is False then.
		e.waitHandled("one", value, 0)
		e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
		if config, err := e.get("v1", "ConfigMap", "one-config"); err != nil || text(config) != value {
			t.Errorf("%v (%v), want %s", config.Object["data"], err, value)
		}
	}
}
