package release

import (
	"errors"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestServerSideRelease continues a release that the helm command has applied by the server.
func TestServerSideRelease(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(failingChart)
	first := e.release(chart, values("v", "1"))
	configuration, err := first.configuration(first.client(), nil)
	if err != nil {
		t.Fatal(err)
	}
	install := first.newInstall(configuration)
	install.ServerSideApply, install.WaitStrategy = true, kube.HookOnlyStrategy
	if _, err := install.RunWithContext(t.Context(), copyChart(chart), values("v", "1")); err != nil {
		t.Fatal(err)
	}
	e.settled(first)
	for _, force := range []bool{false, true} {
		options := UpgradeOptions{Force: force, RollbackForce: force}
		v := map[bool]string{false: "2", true: "3"}[force]
		next := e.release(chart, values("v", v))
		e.plan(next, Upgrade)
		if _, err := next.Upgrade(t.Context(), options); err != nil {
			t.Fatal(err)
		}
		e.settled(next)
		if got := e.field("v1 ConfigMap before", "data", "v"); got != v {
			t.Errorf("v %s, want %s", got, v)
		}
		invalid := e.release(chart, values("v", "9", "invalid", true))
		var rolledBack *RolledBackError
		if _, err := invalid.Upgrade(t.Context(), options); !errors.As(err, &rolledBack) {
			t.Fatalf("error %v", err)
		}
		e.settled(next)
	}
	revisions, err := first.history()
	if err != nil || lastOf(revisions).ApplyMethod != "ssa" {
		t.Errorf("method %s, %v", lastOf(revisions).ApplyMethod, err)
	}
	e.uninstall(nil)
	e.mustNot("apps/v1 Deployment web")
}

// TestForce replaces objects, which resets fields of other clients.
func TestForce(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(basicChart)
	e.install(e.release(chart, nil))
	address := e.field("v1 Service web", "spec", "clusterIP")
	e.update("apps/v1 Deployment web", func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(o.Object, int64(99), "spec", "minReadySeconds")
	})
	next := e.release(chart, values("port", int64(81)))
	if _, err := next.Upgrade(t.Context(), UpgradeOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	e.settled(next)
	if seconds := e.field("apps/v1 Deployment web", "spec", "minReadySeconds"); seconds != "<nil>" {
		t.Errorf("minReadySeconds %s", seconds)
	}
	if after := e.field("v1 Service web", "spec", "clusterIP"); after != address {
		t.Errorf("address %s, was %s", after, address)
	}
}

// TestPostRender changes, adds and removes objects. The text of others, and nulls, are kept.
func TestPostRender(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(failingChart)
	post := func(o *Options) {
		o.PostRender = func(objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
			var result []*unstructured.Unstructured
			for _, object := range objects {
				switch object.GetKind() {
				case "Secret":
					continue
				case "Deployment":
					object.SetLabels(map[string]string{"post": "rendered"})
				}
				result = append(result, object)
			}
			added := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ServiceAccount"}}
			added.SetName("added")
			return append(result, added), nil
		}
	}
	release := e.release(chart, nil, post)
	deployed := e.install(release)
	e.settled(release)
	if !strings.Contains(deployed.Manifest, "data: {v: }") || !strings.Contains(deployed.Manifest, "post: rendered") {
		t.Errorf("manifest:\n%s", deployed.Manifest)
	}
	e.mustNot("v1 Secret password")
	e.must("v1 ServiceAccount added")
	e.upgrade(e.release(chart, values("v", "2"), post))
	e.settled(e.release(chart, values("v", "2"), post))
	if label := e.must("apps/v1 Deployment web").GetLabels()["post"]; label != "rendered" {
		t.Errorf("label %q", label)
	}
	refuse := e.release(chart, values("v", "3"), func(o *Options) {
		o.PostRender = func([]*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
			return nil, errors.New("refused")
		}
	})
	if _, err := refuse.Plan(t.Context()); err == nil || !strings.Contains(err.Error(), "post-render: refused") {
		t.Errorf("error %v", err)
	}
	e.uninstall(nil)
	e.mustNot("v1 ServiceAccount added")
}

// TestSameName does not touch the release of a custom resource of another kind with the same name.
func TestSameName(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(failingChart)
	e.install(e.release(chart, nil))
	e.owner = e.owner.DeepCopy()
	e.owner.SetKind("Other")
	e.owner.SetUID("0c7ed8a1-7d25-4b1c-a7a5-1e0f3f7d0b11")
	other := e.release(chart, nil)
	const want = "it belongs to Widget.example.com; choose another name for the Other"
	if _, err := other.Plan(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("plan: %v", err)
	}
	if _, err := other.Install(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("install: %v", err)
	}
	if _, err := other.Upgrade(t.Context(), UpgradeOptions{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("upgrade: %v", err)
	}
	if removal, err := other.Uninstall(t.Context(), UninstallOptions{}); err != nil || !removal.Done {
		t.Errorf("uninstall: %+v %v", removal, err)
	}
	e.must("apps/v1 Deployment web")
	if records := e.records(); records != "1 deployed" {
		t.Errorf("records %s", records)
	}
}
