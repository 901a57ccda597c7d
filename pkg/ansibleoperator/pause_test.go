package ansibleoperator_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/ansibleoperator"
	"github.com/operon-sdk/operon/testdata/documented"
)

// annotate executes the command of docs/ansible.md that sets or removes an annotation, with another value if it isn't empty.
func (e *env) annotate(obj *unstructured.Unstructured, annotation, value string) {
	e.Helper()
	e.patch(obj.DeepCopy(), documented.Annotation(e.T, "ansible.md", annotation, value))
}

// waitAbsent waits until a resource has no condition of a type.
func (e *env) waitAbsent(obj *unstructured.Unstructured, kind string) {
	e.Helper()
	e.eventually(kind+" is absent", func() error {
		current, err := e.read(obj)
		if err == nil && conditionOf(current, kind) != nil {
			err = fmt.Errorf("status %v", current.Object["status"])
		}
		return err
	})
}

// events returns how many events with a reason a resource had.
func (e *env) events(name, reason string) (n int) {
	e.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("v1")
	list.SetKind("EventList")
	if err := e.client.List(e.Context(), list, client.InNamespace(e.namespace)); err != nil {
		e.Fatal(err)
	}
	for _, event := range list.Items {
		involved, _, _ := unstructured.NestedString(event.Object, "involvedObject", "name")
		if count, _, _ := unstructured.NestedInt64(event.Object, "count"); involved == name && event.Object["reason"] == reason {
			n += int(max(count, 1))
		}
	}
	return n
}

// waitEvents waits until a resource had a number of events.
func (e *env) waitEvents(name, reason string, want int) {
	e.Helper()
	e.eventually("the events", func() error {
		if got := e.events(name, reason); got != want {
			return fmt.Errorf("%d events %s, want %d", got, reason, want)
		}
		return nil
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestPause starts no runs for a paused resource, whatever changes, also after a restart, and continues afterwards. A run that is in
// progress ends first.
func TestPause(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	var mu sync.Mutex
	var seen []string
	e.config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			if strings.Contains(r.URL.Path, "/apps/one") || strings.HasSuffix(r.URL.Path, "/one-config") {
				seen = append(seen, r.Method+" "+r.URL.Path)
			}
			return next.RoundTrip(r)
		})
	})
	e.role("app", `- kubernetes.core.k8s:
    definition:
      apiVersion: v1
      kind: ConfigMap
      metadata: {namespace: "{{ ansible_operator_meta.namespace }}", name: "{{ ansible_operator_meta.name }}-config"}
      data: {text: "{{ text }}"}
- ansible.builtin.shell: echo run >> {{ dir }}/{{ ansible_operator_meta.name }}.runs
- ansible.builtin.wait_for: {path: "{{ dir }}/go", sleep: 1}
  when: wait | default(false)
- ansible.builtin.shell: echo done >> {{ dir }}/{{ ansible_operator_meta.name }}.done
`)
	e.role("cleanup", "- ansible.builtin.shell: echo cleanup >> {{ dir }}/cleanup\n")
	start := func() func() {
		return e.start("- {version: v1, group: GROUP, kind: App, role: app, vars: {dir: " + e.dir + "}, reconcilePeriod: 0s, " +
			"finalizer: {name: example.com/cleanup, role: cleanup}}\n")
	}
	stop := start()
	one := e.resource("App", "one", "spec: {text: a}")
	e.waitReady(one, "True/Successful")
	e.annotate(one, "paused=", "")
	e.waitCondition(one, "Paused", "True/"+ansibleoperator.ReasonPaused)
	runs := strings.Count(e.text("one.runs"), "\n")

	config, err := e.get("v1", "ConfigMap", "one-config")
	if err != nil {
		t.Fatal(err)
	}
	e.patch(config, "data: {text: changed}")
	e.patch(one, "spec: {text: b}")
	n := 0
	// untouched checks that nothing happens to the resource while another one is reconciled.
	untouched := func() {
		t.Helper()
		var before *unstructured.Unstructured
		e.eventually("the pause of the current generation", func() (err error) {
			if before, err = e.read(one); err == nil && conditionOf(before, "Paused")["observedGeneration"] != before.GetGeneration() {
				err = fmt.Errorf("status %v", before.Object["status"])
			}
			return err
		})
		mu.Lock()
		seen = nil
		mu.Unlock()
		n++
		other := e.resource("App", fmt.Sprintf("other%d", n), "spec: {text: a}")
		e.waitReady(other, "True/Successful")
		mu.Lock()
		if len(seen) > 0 {
			t.Errorf("a paused resource causes %q", seen)
		}
		mu.Unlock()
		after, err := e.read(one)
		if err != nil || after.GetResourceVersion() != before.GetResourceVersion() {
			t.Errorf("the paused resource was written (%v): %v", err, after.Object["status"])
		}
		if err := e.checkRuns("one", runs); err != nil {
			t.Error(err)
		}
	}
	untouched()
	if one, err = e.read(one); err != nil {
		t.Fatal(err)
	}
	if conditionOf(one, "Ready") != nil { // for this generation
		t.Errorf("status %v", one.Object["status"])
	}
	if observed, _, _ := unstructured.NestedInt64(one.Object, "status", "observedGeneration"); observed != 1 {
		t.Errorf("observed generation %d", observed)
	}
	stop()
	start()
	untouched()

	// A request is handled after the pause.
	e.annotate(one, "reconcile-requested-at=", "now")
	resumed := strings.Count(e.text("one.runs"), "\n") + 1
	e.annotate(one, "paused-", "")
	e.eventually("the run", func() error { return e.checkRuns("one", resumed) })
	one = e.waitReady(one, "True/Successful")
	if handled, _, _ := unstructured.NestedString(one.Object, "status", "lastHandledReconcileAt"); handled != "now" {
		t.Errorf("handled %q", handled)
	}
	e.waitAbsent(one, "Paused")

	// A run ends, also if the resource is deleted.
	e.patch(one, "spec: {wait: true}")
	e.eventually("the run", func() error { return e.checkRuns("one", resumed+1) })
	e.annotate(one, "paused=", "")
	if err := e.client.Delete(e.Context(), one); err != nil {
		t.Fatal(err)
	}
	done := strings.Count(e.text("one.done"), "\n")
	e.write("go", "")
	one = e.waitCondition(one, "Paused", "True/"+ansibleoperator.ReasonPaused)
	if message := fmt.Sprint(conditionOf(one, "Paused")["message"]); !strings.Contains(message, "the deletion waits") {
		t.Errorf("message %q", message)
	}
	if got := strings.Count(e.text("one.done"), "\n"); got != done+1 {
		t.Errorf("the run was ended")
	}
	runs = resumed + 1
	untouched()
	if text := e.text("cleanup"); text != "" {
		t.Errorf("the finalizer ran: %s", text)
	}
	e.annotate(one, "paused-", "")
	e.waitGone(one)
	if text := e.text("cleanup"); text != "cleanup\n" {
		t.Errorf("the finalizer wrote %q", text)
	}
	e.waitEvents("one", ansibleoperator.EventPaused, 2)
	e.waitEvents("one", ansibleoperator.EventResumed, 2)
}

// text returns the content of a file of the project, empty if it doesn't exist.
func (e *env) text(name string) string {
	e.Helper()
	data, err := os.ReadFile(filepath.Join(e.dir, name))
	if err != nil && !os.IsNotExist(err) {
		e.Fatal(err)
	}
	return string(data)
}

// TestInvalidPause reports a value that is not a Boolean and starts no run, not even the finalizer's.
func TestInvalidPause(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	e.role("app", "- ansible.builtin.shell: echo run >> {{ dir }}/app.runs\n")
	e.start("- {version: v1, group: GROUP, kind: App, role: app, vars: {dir: " + e.dir + "}, finalizer: {name: example.com/cleanup, vars: {}}}\n")
	one := e.create(fmt.Sprintf("{apiVersion: %s/v1, kind: App, metadata: {namespace: %s, name: one, annotations: {%s: 'yes'}}, spec: {}}",
		e.group, e.namespace, ansibleoperator.AnnotationPaused))
	want := `annotation ` + ansibleoperator.AnnotationPaused + ` "yes": must be true or false`
	for range 2 {
		one = e.waitReady(one, "False/Failed")
		if message := conditionOf(one, "Ready")["message"]; message != want || e.text("app.runs") != "" {
			t.Errorf("message %q, runs %q", message, e.text("app.runs"))
		}
		if err := e.client.Delete(e.Context(), one); err != nil {
			t.Fatal(err)
		}
	}
	e.annotate(one, "paused-", "")
	e.waitGone(one)
	if got := e.text("app.runs"); got != "run\n" {
		t.Errorf("runs %q", got)
	}
}

// TestPausedFromTheStart starts no run. With manageStatus: false, only events report it.
func TestPausedFromTheStart(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App", "Silent")
	e.role("app", "- ansible.builtin.shell: echo run >> {{ dir }}/{{ ansible_operator_meta.name }}.runs\n")
	e.start("- {version: v1, group: GROUP, kind: App, role: app, vars: {dir: " + e.dir + "}}\n" +
		"- {version: v1, group: GROUP, kind: Silent, role: app, vars: {dir: " + e.dir + "}, manageStatus: false}\n")
	create := func(kind string) *unstructured.Unstructured {
		return e.create(fmt.Sprintf("{apiVersion: %s/v1, kind: %s, metadata: {namespace: %s, name: %s, annotations: {%s: 'true'}}, spec: {}}",
			e.group, kind, e.namespace, strings.ToLower(kind), ansibleoperator.AnnotationPaused))
	}
	app, silent := create("App"), create("Silent")
	e.waitReady(app, "Unknown/"+ansibleoperator.ReasonPaused)
	e.waitEvents("silent", ansibleoperator.EventPaused, 1)
	for _, obj := range []*unstructured.Unstructured{app, silent} {
		if e.text(obj.GetName()+".runs") != "" {
			t.Errorf("%s: a run", obj.GetName())
		}
		e.annotate(obj, "paused-", "")
		e.eventually("the run", func() error { return e.checkRuns(obj.GetName(), 1) })
		e.waitEvents(obj.GetName(), ansibleoperator.EventResumed, 1)
	}
	e.waitReady(app, "True/Successful")
	e.waitAbsent(app, "Paused")
	if silent, err := e.read(silent); err != nil || silent.Object["status"] != nil {
		t.Errorf("%v %v", err, silent.Object["status"])
	}
}

// TestRequestedRun starts a run for each new value of an annotation, during the delay after a failed run, too.
func TestRequestedRun(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	e.options = append(e.options, ansibleoperator.WithBackoff(24*time.Hour))
	e.role("app", "- ansible.builtin.shell: echo run >> {{ dir }}/{{ ansible_operator_meta.name }}.runs\n- ansible.builtin.fail: {msg: no}\n  when: fail\n")
	e.start("- {version: v1, group: GROUP, kind: App, role: app, vars: {dir: " + e.dir + "}, reconcilePeriod: 0s}\n")
	one, two := e.resource("App", "one", "spec: {fail: true}"), e.resource("App", "two", "spec: {fail: false}")
	e.waitReady(one, "False/Failed")
	e.waitReady(two, "True/Successful")
	for i, value := range []string{"a", "b"} {
		for _, obj := range []*unstructured.Unstructured{one, two} {
			e.annotate(obj, "reconcile-requested-at=", value)
			e.annotate(obj, "reconcile-requested-at=", value)
			e.eventually(obj.GetName()+" has handled "+value, func() error {
				current, err := e.read(obj)
				if handled, _, _ := unstructured.NestedString(current.Object, "status", "lastHandledReconcileAt"); err != nil || handled != value {
					return fmt.Errorf("status %v (%w)", current.Object["status"], err)
				}
				if ready := conditionOf(current, "Ready"); slices.Contains([]any{nil, "Running"}, ready["reason"]) {
					return fmt.Errorf("Ready is %v when the value is written", ready)
				}
				return e.checkRuns(obj.GetName(), i+2)
			})
		}
	}
}
