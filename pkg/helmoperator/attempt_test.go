package helmoperator

import (
	"cmp"
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// TestAttempt changes with everything that a failed operation depends on.
func TestAttempt(t *testing.T) {
	t.Parallel()
	newChart := func(change func(*chartv2.Chart)) *chartv2.Chart {
		chart := &chartv2.Chart{
			Metadata:  &chartv2.Metadata{Name: "app", Version: "1.0.0"},
			Templates: []*common.File{{Name: "templates/a.yaml", Data: []byte("a: 1")}, {Name: "templates/b.yaml"}},
			Files:     []*common.File{{Name: "files/c"}}, Values: map[string]any{"a": 1},
		}
		chart.AddDependency(&chartv2.Chart{Metadata: &chartv2.Metadata{Name: "sub", Version: "1.0.0"}})
		change(chart)
		return chart
	}
	newAttempt := func(change func(*pass, *chartv2.Chart)) attempt {
		t.Helper()
		p := &pass{Reconciler: &Reconciler{}, obj: &unstructured.Unstructured{Object: map[string]any{}}, values: map[string]any{"a": "b"}}
		p.obj.SetAnnotations(map[string]string{AnnotationReconcilePeriod: "1m", "example.com/x": "y"})
		chart := newChart(func(chart *chartv2.Chart) { change(p, chart) })
		a, err := p.newAttempt(release.Upgrade, chart)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	annotate := func(key, value string) func(*pass, *chartv2.Chart) {
		return func(p *pass, _ *chartv2.Chart) { p.obj.SetAnnotations(map[string]string{key: value}) }
	}
	base := newAttempt(func(*pass, *chartv2.Chart) {})
	for name, change := range map[string]func(*pass, *chartv2.Chart){
		"nothing":      func(*pass, *chartv2.Chart) {},
		"files' order": func(_ *pass, c *chartv2.Chart) { c.Templates[0], c.Templates[1] = c.Templates[1], c.Templates[0] },
		"period":       annotate(AnnotationReconcilePeriod, "2m"),
		"wait":         annotate(AnnotationUninstallWait, "true"),
		"foreign":      annotate("example.com/x", "z"),
	} {
		if newAttempt(change) != base {
			t.Errorf("%s: another attempt", name)
		}
	}
	for name, change := range map[string]func(*pass, *chartv2.Chart){
		"generation": func(p *pass, _ *chartv2.Chart) { p.obj.SetGeneration(2) },
		"values":     func(p *pass, _ *chartv2.Chart) { p.values["a"] = "c" },
		"ownership":  func(p *pass, _ *chartv2.Chart) { p.ownership = release.OwnershipEnabled },
		"annotation": annotate(AnnotationUpgradeForce, "true"),
		"retries":    annotate(AnnotationUpgradeRetries, "2"),
		"version":    func(_ *pass, c *chartv2.Chart) { c.Metadata.Version = "1.0.1" },
		"template":   func(_ *pass, c *chartv2.Chart) { c.Templates[0].Data = []byte("a: 2") },
		"file":       func(_ *pass, c *chartv2.Chart) { c.Files[0].Data = []byte("c") },
		"defaults":   func(_ *pass, c *chartv2.Chart) { c.Values["a"] = 2 },
		"schema":     func(_ *pass, c *chartv2.Chart) { c.Schema = []byte("{}") },
		"subchart":   func(_ *pass, c *chartv2.Chart) { c.Dependencies()[0].Metadata.Version = "2.0.0" },
	} {
		if newAttempt(change) == base {
			t.Errorf("%s: the same attempt", name)
		}
	}
}

// TestValuesDigest doesn't confirm a guess of the values without the key.
func TestValuesDigest(t *testing.T) {
	t.Parallel()
	values := sha256.Sum256([]byte(`{"password":"secret"}`))
	one, other := valuesDigest([]byte("key"), values), valuesDigest([]byte("other"), values)
	if one == other || one != valuesDigest([]byte("key"), values) || strings.Contains(one, strings.TrimPrefix(digest(values), "sha256:")) {
		t.Errorf("%s, %s", one, other)
	}
}

// TestCheckDelays doubles the time between dry runs up to the period.
func TestCheckDelays(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	for period, want := range map[time.Duration][]time.Duration{
		0:               {time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second},
		5 * time.Second: {time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second},
	} {
		p := &pass{Reconciler: &Reconciler{kind: customresource.NewKind(0, AnnotationOperator)}, settings: settings{period: period}}
		p.kind.Now = func() time.Time { return now }
		var err error
		if p.metrics, err = registerCollectors(prometheus.NewRegistry()); err != nil {
			t.Fatal(err)
		}
		var held *heldError
		for i, wait := range want {
			held = p.refused(held, attempt{}, &operationError{})
			if got := held.until.Sub(now); got != wait {
				t.Errorf("period %s: delay %d is %s, want %s", period, i, got, wait)
			}
		}
		for range 100 {
			held = p.refused(held, attempt{}, &operationError{})
		}
		if got := held.until.Sub(now); got != cmp.Or(period, maxCheckWait) {
			t.Errorf("period %s: the last delay is %s", period, got)
		}
		if got := p.refused(held, attempt{generation: 2}, &operationError{}).until.Sub(now); got != time.Second {
			t.Errorf("after a change, the delay is %s", got)
		}
	}
}

func TestRemediation(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		retries, failures int
		want              bool
	}{{0, 1, false}, {1, 1, true}, {1, 2, false}, {2, 2, true}, {2, 3, false}, {-1, 1000, true}} {
		if got := (Remediation{Retries: test.retries}).allows(test.failures); got != test.want {
			t.Errorf("%d retries: %t after %d failures", test.retries, got, test.failures)
		}
	}
	for _, option := range []Option{
		WithInstallRemediation(Remediation{Strategy: release.StrategyRollback}), WithUpgradeRemediation(Remediation{Strategy: "x"}),
	} {
		if err := option(&Reconciler{}); err == nil || !strings.Contains(err.Error(), "must be") {
			t.Errorf("error %v", err)
		}
	}
}
