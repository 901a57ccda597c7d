package helmoperator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/helmoperator"
)

// hookChart returns a chart with a ConfigMap and a Job for events, which doesn't run while the value blocked is true. The value name is
// added to the metadata of the Job.
func hookChart(events string) *chartv2.Chart {
	return chart("app", "text: x\nblocked: false\nname: 'name: {{ .Release.Name }}-migrate'\npolicy: before-hook-creation\n", map[string]string{
		"configmap.yaml": configMap,
		"hook.yaml": `apiVersion: batch/v1
kind: Job
metadata:
  {{ tpl .Values.name $ }}
  annotations: {helm.sh/hook: "` + events + `", helm.sh/hook-delete-policy: {{ .Values.policy | quote }}}
spec:
  suspend: {{ .Values.blocked }}
  template:
    spec:
      restartPolicy: Never
      containers: [{name: migrate, image: example.com/migrate}]
`,
		// Helm creates it before the Job and deletes it at the end, but not before the next creation.
		"settings.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-settings
  annotations: {helm.sh/hook: "` + events + `", helm.sh/hook-weight: "-1", helm.sh/hook-delete-policy: hook-succeeded}
data:
  name: {{ .Values.name | quote }}
`,
	})
}

// jobs returns the Jobs in the namespace of the test whose names begin with a prefix.
func (e *env) jobs(prefix string) []batchv1.Job {
	e.Helper()
	list := &batchv1.JobList{}
	if err := e.client.List(e.Context(), list, client.InNamespace(e.namespace)); err != nil {
		e.Fatal(err)
	}
	return slices.DeleteFunc(list.Items, func(job batchv1.Job) bool { return !strings.HasPrefix(job.Name, prefix) })
}

// waitForHook waits until a custom resource waits for a hook, and returns the UID of its Job.
func (e *env) waitForHook(name string) types.UID {
	e.Helper()
	obj := e.waitFor(name, helmoperator.ConditionReady, "False/"+helmoperator.ReasonWaitingForHook)
	jobs := e.jobs(name + "-")
	if len(jobs) != 1 {
		e.Fatalf("%d jobs of %s, want 1: %v", len(jobs), name, jobs)
	}
	if _, message := conditionOf(obj, helmoperator.ConditionReady); !strings.Contains(message, jobs[0].Name) {
		e.Errorf("message %q, want the job %s", message, jobs[0].Name)
	}
	return jobs[0].UID
}

// unblock makes the only Job of a custom resource run.
func (e *env) unblock(name string) {
	e.Helper()
	jobs := e.jobs(name + "-")
	if len(jobs) != 1 {
		e.Fatalf("%d jobs of %s, want 1: %v", len(jobs), name, jobs)
	}
	if err := e.client.Patch(e.Context(), &jobs[0], client.RawPatch(types.MergePatchType, []byte(`{"spec":{"suspend":false}}`))); err != nil {
		e.Fatal(err)
	}
}

// statuses returns the revisions of a release with their statuses, such as "1 superseded, 2 deployed".
func (e *env) statuses(name string) string {
	e.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("v1")
	list.SetKind("SecretList")
	if err := e.client.List(e.Context(), list, client.InNamespace(e.namespace), client.MatchingLabels{"owner": "helm", "name": name}); err != nil {
		e.Fatal(err)
	}
	var statuses []string
	for _, item := range list.Items {
		statuses = append(statuses, item.GetLabels()["version"]+" "+item.GetLabels()["status"])
	}
	slices.Sort(statuses)
	return strings.Join(statuses, ", ")
}

// TestHooksHoldNoWorker checks that a reconciler with one worker handles other resources, and changes, while two hooks are blocked.
func TestHooksHoldNoWorker(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(hookChart("pre-install,pre-upgrade")))
	e.create("one", map[string]any{"blocked": true})
	e.create("two", map[string]any{"blocked": true})
	one, two := e.waitForHook("one"), e.waitForHook("two")
	e.create("three", nil)
	e.waitFor("three", helmoperator.ConditionReady, "True/ObjectsReady")

	e.unblock("one")
	obj := e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	if jobs := e.jobs("one-"); len(jobs) != 1 || jobs[0].UID != one {
		t.Errorf("jobs %v, want the one that was blocked", jobs)
	}
	if got := e.statuses("one"); got != "1 deployed" {
		t.Errorf("revisions %s", got)
	}

	// The corrected values are installed at once, with their own hook.
	resource, err := e.resource("two")
	if err != nil {
		t.Fatal(err)
	}
	e.patch(resource, "spec: {blocked: false}")
	e.waitFor("two", helmoperator.ConditionReady, "True/ObjectsReady")
	if jobs := e.jobs("two-"); len(jobs) != 1 || jobs[0].UID == two {
		t.Errorf("jobs %v, want another one", jobs)
	}
	if got := e.statuses("two"); got != "1 failed, 2 deployed" {
		t.Errorf("revisions %s", got)
	}

	// The hooks of an upgrade are adopted, too.
	e.patch(obj, "spec: {blocked: true, text: changed}")
	upgrade := e.waitForHook("one")
	if upgrade == one {
		t.Error("the upgrade runs the hook of the installation")
	}
	e.patch(obj, "spec: {blocked: false, text: again}")
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	if got := e.statuses("one"); got != "1 superseded, 2 failed, 3 deployed" {
		t.Errorf("revisions %s", got)
	}
	if config, err := e.get("v1", "ConfigMap", "one-config"); err != nil || config.Object["data"].(map[string]any)["text"] != "again" {
		t.Errorf("%v %v", config.Object, err)
	}
}

// TestChangeKeepsRunningHook checks that a long migration goes on if a change of the values has no influence on it.
func TestChangeKeepsRunningHook(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(hookChart("pre-install")))
	obj := e.create("one", map[string]any{"blocked": true})
	uid := e.waitForHook("one")
	// Other annotations are not even noticed.
	e.patch(obj, "metadata: {annotations: {example.com/a: b}}")
	e.patch(obj, "spec: {text: changed}")
	e.waitForHook("one")
	e.unblock("one")
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	if jobs := e.jobs("one-"); len(jobs) != 1 || jobs[0].UID != uid {
		t.Errorf("jobs %v, want the first one", jobs)
	}
	if config, err := e.get("v1", "ConfigMap", "one-config"); err != nil || config.Object["data"].(map[string]any)["text"] != "changed" {
		t.Errorf("%v %v", config.Object, err)
	}
	if got := e.statuses("one"); got != "1 failed, 2 deployed" {
		t.Errorf("revisions %s", got)
	}
}

// TestDeletionEndsWait checks that a resource whose hook is blocked can be deleted, and that a blocked pre-delete hook is in the status.
func TestDeletionEndsWait(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(hookChart("pre-install,pre-delete")))
	e.create("one", map[string]any{"blocked": true})
	e.waitForHook("one")
	two := e.create("two", nil)
	e.waitFor("two", helmoperator.ConditionReady, "True/ObjectsReady")
	e.patch(two, "spec: {blocked: true, text: changed}")
	e.waitFor("two", helmoperator.ConditionReady, "True/ObjectsReady")
	if err := e.client.Delete(e.Context(), two); err != nil {
		t.Fatal(err)
	}
	e.waitFor("two", helmoperator.ConditionDeletionBlocked, "True/"+helmoperator.ReasonWaitingForHook)
	e.waitForHook("two")

	resource, err := e.resource("one")
	if err == nil {
		err = e.client.Delete(e.Context(), resource)
	}
	if err != nil {
		t.Fatal(err)
	}
	// The pre-delete hook of a release that was never deployed is run as Helm does. It is blocked, too.
	e.waitFor("one", helmoperator.ConditionDeletionBlocked, "True/"+helmoperator.ReasonWaitingForHook)
	for _, name := range []string{"one", "two"} {
		e.unblock(name)
		e.waitGone(e.gvk.GroupVersion().String(), e.gvk.Kind, name)
		e.eventually("the jobs are gone", func() error {
			if jobs := e.jobs(name + "-"); len(jobs) > 0 {
				return fmt.Errorf("%v", jobs)
			}
			return nil
		})
	}
	if got := e.revisions(); len(got) > 0 {
		t.Errorf("revisions %v remain", got)
	}
}

// TestRestartAdoptsHook checks that a hook goes on, and is waited for, if the operator restarts, whatever the name of its Job.
func TestRestartAdoptsHook(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ name, policy string }{
		"fixed":     {"name: '{{ .Release.Name }}-migrate'", "before-hook-creation"},
		"revision":  {"name: '{{ .Release.Name }}-migrate-{{ .Release.Revision }}'", "hook-succeeded"},
		"random":    {"name: '{{ .Release.Name }}-{{ randAlphaNum 5 | lower }}'", "hook-succeeded,hook-failed"},
		"generated": {"generateName: '{{ .Release.Name }}-'", "before-hook-creation"},
	} {
		for _, finished := range []bool{false, true} {
			t.Run(fmt.Sprint(name, "/finished=", finished), func(t *testing.T) {
				t.Parallel()
				e := newEnv(t)
				options := helmoperator.WithChart(hookChart("pre-upgrade"))
				stop := e.start(options)
				obj := e.create("one", map[string]any{"name": test.name, "policy": test.policy})
				e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
				e.patch(obj, "spec: {blocked: true, text: changed}")
				uid := e.waitForHook("one")
				stop()
				if finished {
					e.unblock("one")
					e.eventually("the job is complete", func() error {
						if job := e.jobs("one-")[0]; job.Status.Succeeded == 0 {
							return fmt.Errorf("%v", job.Status)
						}
						return nil
					})
				}
				e.start(options)
				if !finished {
					e.eventually("the next process waits", func() error {
						if got := e.statuses("one"); got != "1 deployed, 2 failed, 3 pending-upgrade" {
							return fmt.Errorf("revisions %s", got)
						}
						return nil
					})
					if got := e.waitForHook("one"); got != uid {
						t.Errorf("job %s, want %s", got, uid)
					}
					e.unblock("one")
				}
				e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
				if got := e.statuses("one"); got != "1 superseded, 2 failed, 3 deployed" {
					t.Errorf("revisions %s", got)
				}
				jobs := e.jobs("one-")
				if isDeleted := strings.Contains(test.policy, "succeeded"); isDeleted && len(jobs) > 0 || !isDeleted && (len(jobs) != 1 || jobs[0].UID != uid) {
					t.Errorf("jobs %v, policy %s", jobs, test.policy)
				}
				if config, err := e.get("v1", "ConfigMap", "one-config"); err != nil || config.Object["data"].(map[string]any)["text"] != "changed" {
					t.Errorf("%v %v", config.Object, err)
				}
				// The next upgrade runs the hook again.
				e.patch(obj, "spec: {text: again}")
				if got := e.waitForHook("one"); got == uid {
					t.Error("the hook of another upgrade is adopted")
				}
			})
		}
	}
}

// TestRestartAdoptsDeletionHook checks that a pre-delete hook goes on if the operator restarts.
func TestRestartAdoptsDeletionHook(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	options := helmoperator.WithChart(hookChart("pre-delete"))
	stop := e.start(options)
	obj := e.create("one", map[string]any{"blocked": true})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	if err := e.client.Delete(e.Context(), obj); err != nil {
		t.Fatal(err)
	}
	uid := e.waitForHook("one")
	stop()
	e.start(options)
	// It notices the annotation, as it would notice the deletion.
	e.patch(obj, "metadata: {annotations: {helm.sdk.operatorframework.io/timeout: 1h}}")
	e.unblock("one")
	if jobs := e.jobs("one-"); len(jobs) != 1 || jobs[0].UID != uid {
		t.Errorf("jobs %v, want the first one", jobs)
	}
	e.waitGone(e.gvk.GroupVersion().String(), e.gvk.Kind, "one")
}

// TestStaleHookEnds checks that the Job of an abandoned change doesn't compete with the Job of the next change, even under another name.
func TestStaleHookEnds(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(hookChart("pre-install")))
	obj := e.create("one", map[string]any{"blocked": true, "name": "name: one-old", "policy": "hook-succeeded"})
	e.waitForHook("one")
	e.patch(obj, "spec: {name: 'name: one-new', policy: before-hook-creation}")
	e.eventually("the new job replaces the old one", func() error {
		if jobs := e.jobs("one-"); len(jobs) != 1 || jobs[0].Name != "one-new" {
			return fmt.Errorf("jobs %v", jobs)
		}
		return nil
	})
	e.waitForHook("one")
}

// TestTimeout checks that the annotation takes precedence over the option, and that a hook without a limit goes on.
func TestTimeout(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(hookChart("pre-install")), helmoperator.WithTimeout(time.Second))
	annotate := func(timeout string) func(*unstructured.Unstructured) {
		return func(obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{helmoperator.AnnotationTimeout: timeout})
		}
	}
	e.create("unlimited", map[string]any{"blocked": true}, annotate("0"))
	e.create("hours", map[string]any{"blocked": true}, annotate("2h"))
	uid := e.waitForHook("unlimited")
	e.waitForHook("hours")
	e.create("limited", map[string]any{"blocked": true})
	obj := e.waitFor("limited", helmoperator.ConditionReleaseFailed, "True/InstallError")
	if _, message := conditionOf(obj, helmoperator.ConditionReleaseFailed); !strings.Contains(message, "timed out waiting for the pre-install hook Job/") {
		t.Errorf("message %q", message)
	}
	if got := e.waitForHook("unlimited"); got != uid {
		t.Error("the hook was started again")
	}
	e.waitForHook("hours")
	resource, err := e.resource("hours")
	if err != nil {
		t.Fatal(err)
	}
	// The time counts from the start of the Job.
	e.patch(resource, "metadata: {annotations: {helm.sdk.operatorframework.io/timeout: 1s}}")
	e.waitFor("hours", helmoperator.ConditionReleaseFailed, "True/InstallError")
}
