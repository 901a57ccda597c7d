package release

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// jobChart has a Job for events, and a ConfigMap.
func jobChart(events, policy string) string {
	return `
-- templates/job.yaml --
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {helm.sh/hook: "` + events + `", helm.sh/hook-delete-policy: "` + policy + `"}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: "example.com/c:{{ .Values.image | default 1 }}"}]}}}
-- templates/c.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {v: {{ .Values.v | quote }}}
`
}

// finish sets the condition of a Job, "Complete" or "Failed".
func (e *env) finish(name, condition string) {
	e.Helper()
	now := time.Now().UTC().Format(time.RFC3339)
	first, more := "SuccessCriteriaMet", `"completionTime":"`+now+`","succeeded":1,`
	if condition == "Failed" {
		first, more = "FailureTarget", `"failed":1,`
	}
	entry := func(kind string) string {
		return `{"type":"` + kind + `","status":"True","message":"set by the test","lastTransitionTime":"` + now + `"}`
	}
	status := `{"status":{"startTime":"` + now + `",` + more + `"conditions":[` + entry(first) + `,` + entry(condition) + `]}}`
	r, object := e.reference("batch/v1 Job " + name)
	info, err := r.info(object)
	if err != nil {
		e.Fatal(err)
	}
	if err := request(restClient(info).Patch(types.MergePatchType), info, true).SubResource("status").Body([]byte(status)).Do(context.Background()).Error(); err != nil {
		e.Fatal(err)
	}
}

// onWait sets what is called at the first wait.
func onWait(call func(Waiting)) func(*Options) {
	return func(o *Options) {
		o.HookTimeout = time.Minute
		o.Wait = func(w Waiting, until func() error) error {
			if call != nil {
				call(w)
			}
			return until()
		}
	}
}

// TestHookOutlivesServer waits on while requests and watches fail, as they do if the API server restarts.
func TestHookOutlivesServer(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	failed := 0
	release := e.release(e.chart(jobChart("pre-install", "before-hook-creation")), nil, onWait(func(w Waiting) {
		if w.Hook != "pre-install" || w.Kind != "Job" || w.Name != "migrate" {
			t.Errorf("waiting for %+v", w)
		}
		e.finish("migrate", "Complete")
		e.requests.mutex.Lock()
		defer e.requests.mutex.Unlock()
		e.requests.intercept = func(request *http.Request) *http.Response {
			e.requests.mutex.Lock()
			defer e.requests.mutex.Unlock()
			if !strings.Contains(request.URL.Path, "/jobs") || failed == 2 {
				return nil
			}
			failed++
			body := `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"etcd","reason":"InternalError","code":500}`
			return &http.Response{
				StatusCode: http.StatusInternalServerError, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)),
			}
		}
	}))
	e.install(release)
	if failed != 2 {
		t.Errorf("%d requests failed, want 2", failed)
	}
}

// TestFailedHook ends with the message of the Job, and is not adopted by the next attempt.
func TestFailedHook(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(jobChart("pre-upgrade", "before-hook-creation"))
	e.install(e.release(chart, values("v", "1")))
	uids := map[types.UID]bool{}
	fail := func(Waiting) {
		uids[e.must("batch/v1 Job migrate").GetUID()] = true
		e.finish("migrate", "Failed")
	}
	for range 2 {
		upgrade := e.release(chart, values("v", "2"), onWait(fail))
		_, err := upgrade.Upgrade(t.Context(), UpgradeOptions{})
		if err == nil || !strings.Contains(err.Error(), "/migrate: the job has failed: set by the test") {
			t.Errorf("error %v", err)
		}
	}
	if len(uids) != 2 {
		t.Errorf("%d jobs, want one for each attempt", len(uids))
	}
	deleted := e.release(chart, values("v", "3"), onWait(func(Waiting) { e.remove("batch/v1 Job migrate") }))
	if _, err := deleted.Upgrade(t.Context(), UpgradeOptions{}); err == nil || !strings.Contains(err.Error(), "it was deleted before it finished") {
		t.Errorf("error %v", err)
	}
}

// TestCanceledHook keeps the Job if the context ends, whatever its policy, and records that the revision was interrupted.
func TestCanceledHook(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(jobChart("pre-install,pre-upgrade", "before-hook-creation,hook-failed,hook-succeeded"))
	attempt := func(v string) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := e.release(chart, values("v", v), onWait(func(Waiting) { cancel() }))
		var err error
		if v == "1" {
			_, err = r.Install(ctx)
		} else {
			_, err = r.Upgrade(ctx, UpgradeOptions{})
		}
		return err
	}
	for _, test := range []struct{ v, canceled, done string }{
		{"1", "1 failed", "1 failed, 2 deployed"},
		{"2", "1 failed, 2 deployed, 3 failed", "1 failed, 2 superseded, 3 failed, 4 deployed"},
	} {
		if err := attempt(test.v); err == nil {
			t.Error("no error")
		}
		if records := e.records(); records != test.canceled {
			t.Errorf("records %s, want %s", records, test.canceled)
		}
		uid := e.must("batch/v1 Job migrate").GetUID()
		next := e.release(chart, values("v", test.v), onWait(func(Waiting) {
			if e.must("batch/v1 Job migrate").GetUID() != uid {
				t.Error("the job was started again")
			}
			e.finish("migrate", "Complete")
		}))
		if test.v == "1" {
			e.install(next)
		} else {
			e.upgrade(next)
		}
		if records := e.records(); records != test.done {
			t.Errorf("records %s, want %s", records, test.done)
		}
		e.mustNot("batch/v1 Job migrate")
	}
	history, err := e.release(chart, nil).history()
	if err != nil {
		t.Fatal(err)
	}
	if got := history[2].Info.Description; got != "Interrupted while pending-upgrade" {
		t.Errorf("description %s", got)
	}
}

// TestRefusedCRD ends the wait for a CRD that will not be established.
func TestRefusedCRD(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.apply(gadget("Delta"))
	e.waitServed("gadgets.example.com/v1", "Delta")
	refused := strings.ReplaceAll(gadget("Epsilon"), "kind: Epsilon", "kind: Delta")
	_, err := e.release(e.chart("-- crds/a.yaml --\n"+refused), nil).Install(t.Context())
	if err == nil || !strings.Contains(err.Error(), "its names are not accepted: ") {
		t.Errorf("error %v", err)
	}
}

// TestHookAwaitsDeletion creates the object of a hook again when the one of the last run is gone.
func TestHookAwaitsDeletion(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(`
-- templates/hook.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: hook, annotations: {helm.sh/hook: "pre-install,pre-upgrade"}}
-- templates/c.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {v: {{ .Values.v | quote }}}
`)
	e.install(e.release(chart, values("v", "1")))
	setFinalizers := func(names ...string) types.UID {
		e.update("v1 ConfigMap hook", func(o *unstructured.Unstructured) { o.SetFinalizers(names) })
		return e.must("v1 ConfigMap hook").GetUID()
	}
	uid := setFinalizers("example.com/hold")
	waits := 0
	e.upgrade(e.release(chart, values("v", "2"), onWait(func(w Waiting) {
		waits++
		if !w.Deletion || w.Hook != "pre-upgrade" || w.Name != "hook" {
			t.Errorf("waiting for %+v", w)
		}
		e.update("v1 ConfigMap hook", func(o *unstructured.Unstructured) { o.SetFinalizers(nil) })
	})))
	if waits != 1 || e.must("v1 ConfigMap hook").GetUID() == uid {
		t.Errorf("%d waits, and the object is still the first one", waits)
	}
}

// TestCanceledRollback ends the wait for a hook of a rollback. Its Job ends when another upgrade begins.
func TestCanceledRollback(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	rollback := strings.NewReplacer("name: migrate", "name: back", "templates/job", "templates/back", "templates/c.", "templates/d.", "name: c}", "name: d}")
	chart := e.chart(jobChart("pre-upgrade", "before-hook-creation") + rollback.Replace(jobChart("pre-rollback", "hook-succeeded")))
	e.install(e.release(chart, values("v", "1")))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var waits []string
	_, err := e.release(chart, values("v", "2"), onWait(func(w Waiting) {
		waits = append(waits, string(w.Hook))
		if w.Hook == "pre-upgrade" {
			e.finish("migrate", "Failed")
		} else {
			cancel()
		}
	})).Upgrade(ctx, UpgradeOptions{})
	if err == nil || strings.Contains(err.Error(), "timed out") || strings.Join(waits, " ") != "pre-upgrade pre-rollback" {
		t.Errorf("waits %s, error %v", waits, err)
	}
	if records := e.records(); records != "1 deployed, 2 failed, 3 pending-rollback" {
		t.Errorf("records %s", records)
	}
	e.must("batch/v1 Job back")
	e.upgrade(e.release(chart, values("v", "3", "image", "2"), onWait(func(Waiting) {
		e.mustNot("batch/v1 Job back")
		e.finish("migrate", "Complete")
	})))
}

// TestFinishedHook doesn't run a hook again that an interrupted upgrade has completed, even if its Job is deleted. Another upgrade
// does.
func TestFinishedHook(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	later := strings.NewReplacer("name: migrate", "name: check-{{ .Release.Revision }}", "templates/job", "templates/check", "templates/c.", "templates/d.", "name: c}", "name: d}")
	chart := e.chart(jobChart("pre-upgrade", "hook-succeeded") + later.Replace(jobChart("post-upgrade", "hook-succeeded")))
	e.install(e.release(chart, values("v", "1")))
	for _, v := range []string{"2", "3"} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var waits []string
		upgrade := func(ctx context.Context, interrupt bool) error {
			_, err := e.release(chart, values("v", v), onWait(func(w Waiting) {
				waits = append(waits, string(w.Hook))
				switch {
				case interrupt && w.Hook == "post-upgrade":
					cancel()
				default:
					e.finish(w.Name, "Complete")
				}
			})).Upgrade(ctx, UpgradeOptions{})
			return err
		}
		if err := upgrade(ctx, true); err == nil {
			t.Error("not interrupted")
		}
		e.mustNot("batch/v1 Job migrate")
		if err := upgrade(t.Context(), false); err != nil {
			t.Error(err)
		}
		if got := strings.Join(waits, " "); got != "pre-upgrade post-upgrade post-upgrade" {
			t.Errorf("upgrade to %s: hooks %s", v, got)
		}
	}
	if records := e.records(); !strings.HasSuffix(records, "4 failed, 5 deployed") {
		t.Errorf("records %s", records)
	}
	e.mustNot("batch/v1 Job check-2")
}
