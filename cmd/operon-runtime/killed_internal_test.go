package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// addHook adds a Job to the chart of the kind App, as a hook at events.
func (e *env) addHook(events string) {
	e.Helper()
	e.write("helm-charts/app-"+e.group+"/templates/hook.yaml", `apiVersion: batch/v1
kind: Job
metadata:
  name: "{{ .Release.Name }}-hook"
  annotations: {helm.sh/hook: "`+events+`", helm.sh/hook-delete-policy: "before-hook-creation,hook-succeeded"}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: hook, image: example.com/hook}]
`)
}

// complete makes a Job succeed.
func (e *env) complete(job *unstructured.Unstructured) error {
	now := time.Now().UTC().Format(time.RFC3339)
	condition := func(kind string) any {
		return map[string]any{"type": kind, "status": "True", "lastTransitionTime": now, "lastProbeTime": now}
	}
	before := job.DeepCopy()
	job.Object["status"] = map[string]any{"startTime": now, "completionTime": now, "succeeded": int64(1), "conditions": []any{condition("SuccessCriteriaMet"), condition("Complete")}}
	return e.client.Status().Patch(e.Context(), job, client.MergeFrom(before))
}

// TestKilledDuringInstall kills the program while a hook of the installation runs. The next one waits for it and installs the release.
func TestKilledDuringInstall(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	e.addHook("pre-install")
	namespace := e.namespace("a")
	e.create(e.group, "App", namespace, "one")
	first := e.start(nil)
	var uid any
	job := func() (*unstructured.Unstructured, error) { return e.get("batch/v1", "Job", namespace, "one-hook") }
	e.eventually("the hook runs", func() error {
		obj, err := job()
		uid = obj.GetUID()
		return err
	})
	if code, _ := first.stop(os.Kill); code != -1 {
		t.Fatalf("exit code %d after SIGKILL", code)
	}
	second := e.start(nil)
	e.eventually("the next program waits for the hook", func() error {
		record, err := e.get("v1", "Secret", namespace, "sh.helm.release.v1.one.v2")
		if err == nil && record.GetLabels()["status"] != "pending-install" {
			err = errors.New("its installation is " + record.GetLabels()["status"])
		}
		if err != nil {
			return err
		}
		obj, err := job()
		if err != nil {
			return err
		}
		if obj.GetUID() != uid {
			t.Fatal("it has started the hook again")
		}
		return e.complete(obj)
	})
	e.waitDeployed(e.group, "App", namespace, "one")
	// A hook that is running does not delay the end.
	e.create(e.group, "App", namespace, "two")
	e.eventually("the hook runs", func() error {
		_, err := e.get("batch/v1", "Job", namespace, "two-hook")
		return err
	})
	if code, took := second.stop(syscall.SIGTERM); took > 15*time.Second {
		t.Errorf("exit code %d after %s", code, took)
	}
}

// TestKilledDuringUpgradeAndDeletion kills the program while hooks of the upgrade and of the deletion run. The next one completes both,
// and leaves nothing.
func TestKilledDuringUpgradeAndDeletion(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	e.addHook("pre-upgrade,pre-delete")
	namespace := e.namespace("a")
	e.create(e.group, "App", namespace, "one")
	p := e.start(nil)
	e.waitDeployed(e.group, "App", namespace, "one")
	job := func() (*unstructured.Unstructured, error) { return e.get("batch/v1", "Job", namespace, "one-hook") }
	// killAndRestart kills the program while a hook runs, which completes before the next one starts.
	killAndRestart := func() {
		t.Helper()
		e.eventually("the hook runs", func() error {
			_, err := job()
			return err
		})
		if code, _ := p.stop(os.Kill); code != -1 {
			t.Fatalf("exit code %d after SIGKILL", code)
		}
		e.eventually("the hook completes", func() error {
			obj, err := job()
			if err != nil {
				return err
			}
			return e.complete(obj)
		})
		p = e.start(nil)
	}
	obj, err := e.get(e.group+"/v1", "App", namespace, "one")
	if err != nil {
		t.Fatal(err)
	}
	if err := e.client.Patch(t.Context(), obj, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"data":{"a":"changed"}}}`))); err != nil {
		t.Fatal(err)
	}
	killAndRestart()
	e.eventually("the release is upgraded", func() error {
		config, err := e.get("v1", "ConfigMap", namespace, "one")
		if a, _, _ := unstructured.NestedString(config.Object, "data", "a"); err == nil && a != "changed" {
			err = errors.New("it is " + a)
		}
		return err
	})
	e.eventually("the hook of the upgrade is deleted", func() error {
		if _, err := job(); !apierrors.IsNotFound(err) {
			return errors.Join(err, errors.New("it exists"))
		}
		return nil
	})
	if err := e.client.Delete(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	killAndRestart()
	for _, object := range []struct{ apiVersion, kind, namespace, name string }{
		{e.group + "/v1", "App", namespace, "one"}, {"v1", "ConfigMap", namespace, "one"}, {"batch/v1", "Job", namespace, "one-hook"},
		{"rbac.authorization.k8s.io/v1", "ClusterRole", "", namespace + "-one"},
	} {
		e.eventually(object.kind+" is gone", func() error {
			if _, err := e.get(object.apiVersion, object.kind, object.namespace, object.name); !apierrors.IsNotFound(err) {
				return errors.Join(err, errors.New("it exists"))
			}
			return nil
		})
	}
	records := &unstructured.UnstructuredList{}
	records.SetAPIVersion("v1")
	records.SetKind("SecretList")
	if err := e.client.List(t.Context(), records, client.InNamespace(namespace), client.MatchingLabels{"owner": "helm"}); err != nil || len(records.Items) > 0 {
		t.Errorf("%d records remain (%v)", len(records.Items), err)
	}
	p.mustStop()
}

// TestTimeoutFlag checks that --timeout limits the wait for a hook.
func TestTimeoutFlag(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	e.addHook("pre-install")
	namespace := e.namespace("a")
	e.create(e.group, "App", namespace, "one")
	p := e.start(nil, "--timeout", "1s")
	e.eventually("the installation fails", func() error {
		obj, err := e.get(e.group+"/v1", "App", namespace, "one")
		if status := fmt.Sprint(obj.Object["status"]); err == nil && !strings.Contains(status, "timed out waiting for the pre-install hook Job/") {
			err = errors.New(status)
		}
		return err
	})
	p.mustStop()
}
