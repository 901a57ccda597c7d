package helmoperator_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/operon-sdk/operon/pkg/helmoperator"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// failingChart has a Job that fails if the value fail is true, as its pod has no node to run on.
func failingChart(events string) helmoperator.Option {
	return helmoperator.WithChart(chart("app", "{text: a, fail: false}", map[string]string{
		"configmap.yaml": configMap,
		"job.yaml": `apiVersion: batch/v1
kind: Job
metadata: {name: {{ .Release.Name }}-job, annotations: {helm.sh/hook: "` + events + `"}}
spec:
  {{- if .Values.fail }}
  activeDeadlineSeconds: 1
  {{- end }}
  template:
    spec:
      restartPolicy: Never
      {{- if .Values.fail }}
      nodeSelector: {missing: node}
      {{- end }}
      containers: [{name: job, image: example.com/job}]
`,
	}))
}

// failingHook is a template of a Job that runs after upgrades, and fails, if the value fail is true.
const failingHook = `{{ if .Values.fail }}
apiVersion: batch/v1
kind: Job
metadata: {name: {{ .Release.Name }}-job, annotations: {helm.sh/hook: post-upgrade}}
spec:
  activeDeadlineSeconds: 1
  template:
    spec:
      restartPolicy: Never
      nodeSelector: {missing: node}
      containers: [{name: job, image: example.com/job}]
{{ end }}`

// A transport counts the requests to create Jobs, without dry runs, and fails some requests.
type transport struct {
	jobs      atomic.Int32
	intercept func(*http.Request) int
}

// startCounting is start with a transport.
func (e *env) startCounting(c *transport, options ...helmoperator.Option) func() {
	e.Helper()
	return e.startWith(c.wrap(e.config), nil, append([]helmoperator.Option{helmoperator.WithGroupVersionKind(e.gvk)}, options...))
}

func (c *transport) wrap(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			dry := request.URL.Query().Get("dryRun") != ""
			if request.Method == http.MethodPost && strings.HasSuffix(request.URL.Path, "/jobs") && !dry {
				c.jobs.Add(1)
			}
			if c.intercept != nil && !dry {
				if code := c.intercept(request); code != 0 {
					body := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"try again","code":%d}`, code)
					return &http.Response{
						StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}},
						Body: io.NopCloser(strings.NewReader(body)), Request: request,
					}, nil
				}
			}
			return next.RoundTrip(request)
		})
	})
	return config
}

// TestFailedHook runs a failing hook once, rolls back, and does so again after a change only, also after a restart.
func TestFailedHook(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	c := &transport{}
	options := []helmoperator.Option{failingChart("pre-upgrade"), helmoperator.WithReconcilePeriod(100 * time.Millisecond)}
	stop := e.startCounting(c, options...)
	obj := e.create("one", nil)
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.patch(obj, "spec: {text: b, fail: true}")
	obj = e.waitFor("one", helmoperator.ConditionReleaseFailed, "True/UpgradeError")
	if _, message := conditionOf(obj, helmoperator.ConditionReleaseFailed); !strings.Contains(message, "pre-upgrade hooks failed") ||
		!strings.Contains(message, "rolled back to revision 1") || !strings.Contains(message, "not tried again until") {
		t.Errorf("message %q", message)
	}
	failed := failedRelease(obj)
	if failed["action"] != "Upgrade" || failed["generation"] != obj.GetGeneration() || failed["failures"] != int64(1) ||
		!strings.HasPrefix(fmt.Sprint(failed["chartDigest"]), "sha256:") || !strings.HasPrefix(fmt.Sprint(failed["valuesDigest"]), "hmac-sha256:") {
		t.Errorf("failed release %v", failed)
	}
	unchanged := func(jobs int32) {
		t.Helper()
		e.waitOperations("check", "success", 5)
		if got := c.jobs.Load(); got != jobs {
			t.Errorf("the job ran %d times, want %d", got, jobs)
		}
		if config, err := e.get("v1", "ConfigMap", "one-config"); err != nil || text(config) != "a" {
			t.Errorf("%v %v", err, config)
		}
	}
	unchanged(1)
	if revisions := e.revisions(); len(revisions) != 3 {
		t.Errorf("revisions %v", revisions)
	}
	stop()
	e.startCounting(c, options...)
	unchanged(1)

	e.patch(obj, "spec: {text: c}")
	e.waitFor("one", helmoperator.ConditionReleaseFailed, "True/UpgradeError")
	unchanged(2)
	e.patch(obj, "metadata: {annotations: {helm.sdk.operatorframework.io/upgrade-retries: '1'}}")
	e.eventually("another attempt and its retry", func() error {
		if got := c.jobs.Load(); got != 4 {
			return fmt.Errorf("%d jobs", got)
		}
		return nil
	})
	e.patch(obj, "spec: {fail: false}")
	obj = e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	if failed := failedRelease(obj); failed != nil {
		t.Errorf("failed release %v", failed)
	}
	if config, err := e.get("v1", "ConfigMap", "one-config"); err != nil || text(config) != "c" {
		t.Errorf("%v %v", err, config)
	}
}

// TestFailedInstall runs a failing hook once and follows the strategy.
func TestFailedInstall(t *testing.T) {
	t.Parallel()
	for _, strategy := range []release.Strategy{"", release.StrategyNone} {
		t.Run("strategy "+string(strategy), func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			c := &transport{}
			e.startCounting(c, failingChart("post-install"), helmoperator.WithReconcilePeriod(100*time.Millisecond),
				helmoperator.WithInstallRemediation(helmoperator.Remediation{Retries: 1, Strategy: strategy}))
			obj := e.create("one", map[string]any{"fail": true})
			e.eventually("the retry has failed", func() (err error) {
				if obj, err = e.resource("one"); err == nil && failedRelease(obj)["failures"] != int64(2) {
					err = fmt.Errorf("status %v", obj.Object["status"])
				}
				return err
			})
			e.waitOperations("check", "success", 3)
			e.waitMetric("helm_operator_release_remediations_total", map[release.Strategy]float64{"": 2}[strategy], "action", "uninstall", "result", "success")
			if got := c.jobs.Load(); got != 2 {
				t.Errorf("the job ran %d times", got)
			}
			_, err := e.get("v1", "ConfigMap", "one-config")
			if kept := err == nil; kept != (strategy == release.StrategyNone) || kept != (len(e.revisions()) > 0) {
				t.Errorf("kept: %t, revisions %v (%v)", kept, e.revisions(), err)
			}
			e.patch(obj, "spec: {fail: false}")
			e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
		})
	}
}

// TestUninstallStrategy installs the release again after a failed upgrade, which helps if a field can't be changed.
func TestUninstallStrategy(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	c := &transport{}
	e.startCounting(c, failingChart("pre-upgrade"))
	obj := e.create("one", nil, func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(map[string]string{helmoperator.AnnotationUpgradeStrategy: "uninstall"})
	})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.patch(obj, "spec: {text: b, fail: true}")
	obj = e.waitFor("one", helmoperator.ConditionDeployed, "True/InstallSuccessful")
	e.waitMetric("helm_operator_release_remediations_total", 1.0, "action", "uninstall", "result", "success")
	if config, err := e.get("v1", "ConfigMap", "one-config"); err != nil || text(config) != "b" || c.jobs.Load() != 1 {
		t.Errorf("%v %v, %d jobs", err, config, c.jobs.Load())
	}
	if failed := failedRelease(obj); failed != nil {
		t.Errorf("failed release %v", failed)
	}
}

// TestTransientFailure tries again, as often as it takes, and records no failure.
func TestTransientFailure(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	var refused atomic.Int32
	c := &transport{intercept: func(request *http.Request) int {
		if request.Method == http.MethodPost && strings.HasSuffix(request.URL.Path, "/namespaces/"+e.namespace+"/configmaps") && refused.Add(1) <= 2 {
			return http.StatusInternalServerError
		}
		return 0
	}}
	e.startCounting(c, helmoperator.WithChart(chart("app", "", map[string]string{"configmap.yaml": configMap})))
	e.create("one", map[string]any{"text": "x"})
	obj := e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	if refused.Load() < 3 || failedRelease(obj) != nil {
		t.Errorf("%d requests, status %v", refused.Load(), obj.Object["status"])
	}
}

// TestInvalidRemediation reports annotations that aren't valid.
func TestInvalidRemediation(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(chart("app", "", map[string]string{"configmap.yaml": configMap})))
	e.create("one", nil, func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(map[string]string{
			helmoperator.AnnotationInstallStrategy: "rollback", helmoperator.AnnotationUpgradeStrategy: "nothing",
			helmoperator.AnnotationInstallRetries: "x", helmoperator.AnnotationUpgradeRetries: "-2",
		})
	})
	obj := e.waitFor("one", helmoperator.ConditionIrreconcilable, "True/ReconcileError")
	_, message := conditionOf(obj, helmoperator.ConditionIrreconcilable)
	for _, want := range []string{
		`install-strategy "rollback": must be uninstall or none`, `upgrade-strategy "nothing": must be rollback, uninstall or none`,
		`install-retries "x": must be a whole number, at least -1`, `upgrade-retries "-2": must be`,
	} {
		if !strings.Contains(message, want) {
			t.Errorf("message %q, want %s", message, want)
		}
	}
}
