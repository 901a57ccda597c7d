package release

import (
	"errors"
	"strings"
	"testing"

	rcommon "helm.sh/helm/v4/pkg/release/common"
)

// TestTargetIsKept keeps the last deployed revision, however many failed ones follow.
func TestTargetIsKept(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		strategy  Strategy
		limit     int
		want      string
		deployed2 string
	}{
		"none":     {StrategyNone, 2, "1 deployed, 5 failed", "5 failed, 6 deployed"},
		"one":      {StrategyNone, 1, "1 deployed, 5 failed", "6 deployed"},
		"rollback": {"", 2, "8 failed, 9 deployed", "9 superseded, 10 deployed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			chart := e.chart(failingChart)
			options := func(o *Options) { o.MaxHistory, o.UpgradeStrategy = test.limit, test.strategy }
			e.install(e.release(chart, values("v", "1"), options))
			for range 4 {
				invalid := e.release(chart, values("v", "2", "invalid", true), options)
				e.plan(invalid, Upgrade)
				if _, err := invalid.Upgrade(t.Context(), UpgradeOptions{}); err == nil {
					t.Fatal("no error")
				}
			}
			if records := e.records(); records != test.want {
				t.Errorf("records %s, want %s", records, test.want)
			}
			valid := e.release(chart, values("v", "3"), options)
			e.upgrade(valid)
			e.settled(valid)
			if records := e.records(); records != test.deployed2 {
				t.Errorf("records %s, want %s", records, test.deployed2)
			}
		})
	}
}

// TestTargetIsSuperseded rolls back to the revision before one that was interrupted at its end.
func TestTargetIsSuperseded(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(failingChart)
	e.install(e.release(chart, values("v", "1")))
	e.kill("PUT /api/v1/namespaces/" + e.namespace + "/secrets/sh.helm.release.v1.web.v2")
	if _, err := e.release(chart, values("v", "2")).Upgrade(t.Context(), UpgradeOptions{}); err == nil {
		t.Fatal("not killed")
	}
	e.connect()
	if records := e.records(); records != "1 superseded, 2 pending-upgrade" {
		t.Fatalf("records %s", records)
	}
	invalid := e.release(chart, values("v", "3", "invalid", true))
	e.plan(invalid, Upgrade)
	_, err := invalid.Upgrade(t.Context(), UpgradeOptions{})
	var rolledBack *RolledBackError
	if !errors.As(err, &rolledBack) || rolledBack.Revision != 1 {
		t.Fatalf("error %v", err)
	}
	if records := e.records(); !strings.HasSuffix(records, "4 "+rcommon.StatusDeployed.String()) {
		t.Errorf("records %s", records)
	}
	if v := e.field("v1 ConfigMap before", "data", "v"); v != "1" {
		t.Errorf("v %s", v)
	}
}

// TestUninstallStrategy removes the release after a failed upgrade.
func TestUninstallStrategy(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(failingChart)
	e.install(e.release(chart, nil))
	invalid := e.release(chart, values("invalid", true), func(o *Options) { o.UpgradeStrategy = StrategyUninstall })
	e.plan(invalid, Upgrade)
	_, err := invalid.Upgrade(t.Context(), UpgradeOptions{})
	var uninstalled *UninstalledError
	if !errors.As(err, &uninstalled) || !strings.Contains(err.Error(), "is invalid") {
		t.Fatalf("error %v", err)
	}
	if records := e.records(); records != "" {
		t.Errorf("records %s", records)
	}
	e.mustNot("v1 ConfigMap before")
	e.mustNot("apps/v1 Deployment web")
}
