package release

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/kube"
	rcommon "helm.sh/helm/v4/pkg/release/common"
	"helm.sh/helm/v4/pkg/storage"
	"helm.sh/helm/v4/pkg/storage/driver"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// other returns the release of a custom resource of another kind with the same name, in another process.
func (e *env) other() *env {
	e.Helper()
	other := &env{T: e.T, namespace: e.namespace}
	other.connect()
	other.owner = &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Other"}}
	other.owner.SetName("web")
	other.owner.SetNamespace(e.namespace)
	other.owner.SetUID("7a2b6c1e-0000-4000-8000-000000000000")
	return other
}

// leader returns the same release in another process.
func (e *env) leader() *env {
	e.Helper()
	leader := &env{T: e.T, namespace: e.namespace, owner: e.owner}
	leader.connect()
	return leader
}

// helm returns what the helm command uses.
func (e *env) helm() *action.Configuration {
	e.Helper()
	leader := e.leader()
	configuration := action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler))
	getter := clusterGetter{leader.factory, e.namespace}
	configuration.RESTClientGetter = getter
	client := kube.New(getter)
	client.Namespace = e.namespace
	client.SetLogger(slog.DiscardHandler)
	configuration.KubeClient = client
	configuration.Releases = storage.Init(driver.NewSecrets(leader.factory.core.Secrets(e.namespace)))
	found, err := leader.factory.capabilities.get(leader.factory.discovery)
	if err != nil {
		e.Fatal(err)
	}
	configuration.Capabilities = found.Copy()
	return configuration
}

func (e *env) helmInstall(chart *chartv2.Chart, values map[string]any) {
	e.Helper()
	install := action.NewInstall(e.helm())
	install.ReleaseName, install.Namespace, install.WaitStrategy = "web", e.namespace, kube.HookOnlyStrategy
	if _, err := install.Run(copyChart(chart), values); err != nil {
		e.Fatal(err)
	}
}

func (e *env) helmUpgrade(chart *chartv2.Chart, values map[string]any) {
	e.Helper()
	upgrade := action.NewUpgrade(e.helm())
	upgrade.Namespace, upgrade.WaitStrategy = e.namespace, kube.HookOnlyStrategy
	if _, err := upgrade.Run("web", copyChart(chart), values); err != nil {
		e.Fatal(err)
	}
}

// setLast changes the status and the age of the last revision, as the helm command.
func (e *env) setLast(status rcommon.Status, age time.Duration) {
	e.Helper()
	leader := e.leader()
	revisions, err := leader.release(nil, nil).history()
	if err != nil {
		e.Fatal(err)
	}
	revision := lastOf(revisions)
	revision.Info.Status, revision.Info.LastDeployed = status, time.Now().Add(-age)
	if err := e.helm().Releases.Update(revision); err != nil {
		e.Fatal(err)
	}
}

// meanwhile calls do before the first request that begins with a text is sent.
func (e *env) meanwhile(before string, do func()) {
	once := sync.OnceFunc(do)
	e.requests.mutex.Lock()
	defer e.requests.mutex.Unlock()
	e.requests.intercept = func(request *http.Request) *http.Response {
		if strings.HasPrefix(request.Method+" "+request.URL.RequestURI(), before) {
			once()
		}
		return nil
	}
}

// TestFailedInstallLeavesOthers deletes nothing of those who had the name first.
func TestFailedInstallLeavesOthers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		at      string
		install func(*env, *chartv2.Chart)
		records string
	}{
		"kind": {"POST /api/v1/namespaces/NS/secrets", func(e *env, chart *chartv2.Chart) {
			other := e.other()
			other.install(other.release(chart, values("v", "other")))
		}, "1 deployed"},
		"helm": {"POST /api/v1/namespaces/NS/secrets", func(e *env, chart *chartv2.Chart) {
			e.helmInstall(chart, values("v", "other"))
		}, "1 deployed"},
		// The failure is about to be recorded.
		"leader": {"GET /api/v1/namespaces/NS/secrets/sh.helm.release.v1.web.v1", func(e *env, chart *chartv2.Chart) {
			leader := e.leader()
			leader.install(leader.release(chart, values("v", "other")))
		}, "1 failed, 2 deployed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			chart := e.chart(failingChart)
			release := e.release(chart, values("v", "1", "invalid", name == "leader"))
			e.plan(release, Install)
			e.meanwhile(strings.ReplaceAll(test.at, "NS", e.namespace), func() { test.install(e, chart) })
			if _, err := release.Install(t.Context()); err == nil {
				t.Fatal("no error")
			} else if name != "leader" && !IsTransient(err) {
				t.Errorf("not transient: %v", err)
			}
			e.connect()
			if records := e.records(); records != test.records {
				t.Errorf("records %s", records)
			}
			if v := e.field("v1 ConfigMap before", "data", "v"); v != "other" {
				t.Errorf("v %s", v)
			}
			e.must("apps/v1 Deployment web")
			e.must("v1 Secret password")
		})
	}
}

// TestFailedUpgradeLeavesOthers does not roll back a revision that somebody else has made at the same time.
func TestFailedUpgradeLeavesOthers(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(failingChart)
	e.install(e.release(chart, values("v", "1")))
	next := e.release(chart, values("v", "2"))
	e.plan(next, Upgrade)
	e.meanwhile("POST /api/v1/namespaces/"+e.namespace+"/secrets", func() {
		e.helmUpgrade(chart, values("v", "other"))
		e.setLast(rcommon.StatusPendingUpgrade, 0) // its hooks are running
	})
	if _, err := next.Upgrade(t.Context(), UpgradeOptions{}); err == nil || !IsTransient(err) {
		t.Fatalf("error %v", err)
	}
	e.connect()
	if records := e.records(); records != "1 superseded, 2 pending-upgrade" {
		t.Errorf("records %s", records)
	}
	if v := e.field("v1 ConfigMap before", "data", "v"); v != "other" {
		t.Errorf("v %s", v)
	}
	e.setLast(rcommon.StatusDeployed, 0)
	next = e.release(chart, values("v", "2"))
	e.upgrade(next)
	e.settled(next)
}

// TestUninstallLeavesOthers uninstalls a release of the helm command only if the custom resource has taken it over.
func TestUninstallLeavesOthers(t *testing.T) {
	t.Parallel()
	for _, taken := range []bool{false, true} {
		t.Run(map[bool]string{false: "foreign", true: "taken"}[taken], func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			chart := e.chart(failingChart)
			e.helmInstall(chart, values("v", "1"))
			if taken {
				release := e.release(chart, values("v", "1"))
				e.plan(release, None)
				e.repair(release) // adds the owner to the objects
			}
			removal, err := e.release(nil, nil).Uninstall(t.Context(), UninstallOptions{})
			if err != nil || removal.Done == taken {
				t.Fatalf("%+v %v", removal, err)
			}
			records := e.records()
			if taken {
				e.mustNot("v1 ConfigMap before")
			} else {
				e.must("v1 ConfigMap before")
			}
			if taken != (records == "") {
				t.Errorf("records %s", records)
			}
		})
	}
}

// TestBusy waits for an operation of the helm command, unless it must have been interrupted.
func TestBusy(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(failingChart)
	e.helmInstall(chart, values("v", "1"))
	e.setLast(rcommon.StatusPendingInstall, time.Minute)
	release := e.release(chart, values("v", "2"))
	e.plan(release, Install)
	if err := release.Check(t.Context(), Install, UpgradeOptions{}); !IsTransient(err) {
		t.Errorf("check: %v", err)
	}
	if _, err := release.Install(t.Context()); !errors.Is(err, errBusy) {
		t.Errorf("install: %v", err)
	}
	e.setLast(rcommon.StatusUninstalling, time.Hour)
	if _, err := e.release(chart, nil).Install(t.Context()); !errors.Is(err, errBusy) {
		t.Errorf("install: %v", err)
	}
	e.must("v1 ConfigMap before")
	e.setLast(rcommon.StatusPendingInstall, time.Hour)
	again := e.release(chart, values("v", "2"))
	e.install(again)
	e.settled(again)
}

// TestKilledDiscard completes the removal of a failed installation.
func TestKilledDiscard(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(failingChart)
	e.kill("DELETE /api/v1/namespaces/" + e.namespace)
	if _, err := e.release(chart, values("invalid", true, "extra", true)).Install(t.Context()); err == nil {
		t.Fatal("not killed")
	}
	e.connect()
	if records := e.records(); records != "1 uninstalling" {
		t.Fatalf("records %s", records)
	}
	again := e.release(chart, nil)
	e.install(again)
	e.settled(again)
	e.mustNot("v1 ConfigMap extra")
}
