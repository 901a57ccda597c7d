package release

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// wantGivenBack checks that the objects are as they were.
func (e *env) wantGivenBack(before string) {
	e.Helper()
	if after := e.content(); after != before {
		e.Errorf("the objects are not given back:\n%s\nwere:\n%s", after, before)
	}
}

// TestFailedInstallGivesBack restores objects that a failed or killed installation has taken over.
func TestFailedInstallGivesBack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kill string
		// next is what ends the release after a kill.
		next func(*env)
	}{
		"failed":           {"", func(*env) {}},
		"recorded":         {"PATCH /api/v1/namespaces/NS/secrets/password?fieldManager", (*env).removeRelease},
		"claimed in part":  {"PATCH /api/v1/namespaces/NS/configmaps/config?fieldManager", (*env).removeRelease},
		"patched in part":  {"PATCH /apis/apps/v1/namespaces/NS/deployments/web?fieldManager=helm-operator&", (*env).removeRelease},
		"given back":       {"PUT /api/v1/namespaces/NS/secrets/sh.helm.release.v1.web.v1", (*env).removeRelease},
		"continued":        {"PATCH /apis/example.com/v1/namespaces/NS/widgets/small?fieldManager", (*env).failInstall},
		"given back twice": {"DELETE /api/v1/namespaces/NS/secrets/sh.helm.release.v1.web.v1", (*env).removeRelease},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.takeable()
			before := e.content()
			if test.kill != "" {
				e.kill(strings.ReplaceAll(test.kill, "NS", e.namespace))
			}
			if _, err := e.taking(values("widget", true, "fail", "post-install")).Install(t.Context()); err == nil {
				t.Fatal("the installation has not failed")
			}
			e.connect()
			test.next(e)
			e.wantGivenBack(before)
			if records := e.records(); records != "" {
				t.Errorf("records %s", records)
			}
			e.install(e.taking(values("widget", true)))
			e.uninstall(nil)
			e.mustNot("v1 ConfigMap config")
		})
	}
}

// removeRelease uninstalls a release as after the deletion of its custom resource.
func (e *env) removeRelease() {
	e.Helper()
	if _, err := e.release(nil, nil).Uninstall(e.Context(), UninstallOptions{}); err != nil {
		e.Fatal(err)
	}
}

// failInstall continues with an installation that fails, too.
func (e *env) failInstall() {
	e.Helper()
	if _, err := e.taking(values("widget", true, "fail", "post-install")).Install(e.Context()); err == nil {
		e.Fatal("the installation has not failed")
	}
}

// TestGiveBackKeepsChanges restores only what the operation has changed, and leaves an object that replaces the adopted one.
func TestGiveBackKeepsChanges(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.takeable()
	e.meanwhile("POST /apis/example.com/v1", func() {
		leader := e.leader()
		leader.update("v1 ConfigMap config", func(live *unstructured.Unstructured) {
			live.Object["data"].(map[string]any)["new"] = "theirs"
		})
		leader.remove("v1 Secret password")
		leader.apply(plainSecret)
	})
	e.remove("example.com/v1 Widget small") // its creation comes after the adoption of the others
	if _, err := e.taking(values("widget", true, "fail", "post-install")).Install(t.Context()); err == nil {
		t.Fatal("the installation has not failed")
	}
	if got := e.field("v1 ConfigMap config", "data"); got != "map[new:theirs other:theirs v:theirs]" {
		t.Errorf("data %s", got)
	}
	e.must("v1 Secret password")
	e.mustNot("example.com/v1 Widget small")
}

// TestFailedUpgradeGivesBack restores objects that a failed upgrade has taken over, with each strategy.
func TestFailedUpgradeGivesBack(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		strategy Strategy
		hook     string
	}{
		{StrategyRollback, "post-upgrade"},
		{StrategyRollback, "pre-upgrade"},
		{StrategyUninstall, "post-upgrade"},
		{StrategyUninstall, "pre-upgrade"},
		{StrategyNone, "post-upgrade"},
		{StrategyNone, "pre-upgrade"},
	} {
		strategy, hook := test.strategy, test.hook
		t.Run(string(strategy)+" "+hook, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			other := e.chart("-- templates/other.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n")
			e.install(e.release(other, nil))
			e.takeable()
			before := e.content()
			_, err := e.taking(values("widget", true, "fail", hook), func(o *Options) { o.UpgradeStrategy = strategy }).Upgrade(t.Context(), UpgradeOptions{})
			var rolledBack *RolledBackError
			if err == nil || errors.As(err, &rolledBack) != (strategy == StrategyRollback) {
				t.Fatalf("error %v", err)
			}
			if strategy == StrategyNone { // the next upgrade doesn't contain them anymore
				if taken := e.field("v1 ConfigMap config", "data", "v") == "chart"; taken != (hook == "post-upgrade") {
					t.Errorf("taken over: %v", taken)
				}
				e.upgrade(e.release(other, nil))
			}
			e.wantGivenBack(before)
			if strategy == StrategyUninstall {
				e.mustNot("v1 ConfigMap other")
				return
			}
			e.settled(e.release(other, nil))
			e.upgrade(e.taking(values("widget", true)))
			e.uninstall(nil)
			e.mustNot("v1 ConfigMap config")
		})
	}
}

// TestLaterFailuresDeleteAdopted has a release whose later upgrade fails: what an earlier revision has taken over belongs to it.
func TestLaterFailuresDeleteAdopted(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.takeable()
	uids := e.uids()
	e.install(e.taking(values("widget", true)))
	if _, err := e.taking(values("widget", true, "v", "2", "fail", "post-upgrade")).Upgrade(t.Context(), UpgradeOptions{}); err == nil {
		t.Fatal("the upgrade has not failed")
	}
	if v := e.field("v1 ConfigMap config", "data", "v"); v != "chart" || e.uids() != uids {
		t.Errorf("v %s, want a rollback", v)
	}
	e.kill("DELETE /api/v1/namespaces/" + e.namespace + "/configmaps/config")
	if _, err := e.release(nil, nil).Uninstall(t.Context(), UninstallOptions{}); err == nil {
		t.Fatal("not killed")
	}
	e.connect()
	e.uninstall(nil)
	for _, reference := range takeableObjects {
		e.mustNot(reference)
	}
}

// TestConcurrentTakeovers lets one of two operators have an object.
func TestConcurrentTakeovers(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.takeable()
	other := e.other()
	other.owner.SetName("second")
	winner := other.taking(nil)
	e.meanwhile("PATCH /api/v1/namespaces/"+e.namespace+"/secrets/password?fieldManager=helm-operator", func() {
		if _, err := winner.Install(t.Context()); err != nil {
			t.Error(err)
		}
	})
	uids := e.uids()
	if _, err := e.taking(nil).Install(t.Context()); err == nil || !IsTransient(err) {
		t.Fatalf("error %v", err)
	}
	if got := e.uids(); got != uids || !winner.isOwned(e.must("v1 ConfigMap config")) {
		t.Error("the objects of the other operator were changed")
	}
	e.refused(e.check(e.taking(nil), Install, UpgradeOptions{}), "Secret/password (belongs to Other/second)")
}
