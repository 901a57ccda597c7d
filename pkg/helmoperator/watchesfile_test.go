package helmoperator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// writeWatches writes a watches.yaml in which CHART is the directory of a chart, and returns its path.
func writeWatches(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	chart := filepath.Join(dir, "charts", "app")
	err := errors.Join(os.MkdirAll(chart, 0o755),
		os.WriteFile(filepath.Join(chart, "Chart.yaml"), []byte("apiVersion: v2\nname: app\nversion: 1.0.0\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "watches.yaml"), []byte(strings.ReplaceAll(text, "CHART", filepath.ToSlash(chart))), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "watches.yaml")
}

// TestLoadWatches checks which options a reconciler has: first for its kind, then from the entry, then defaults.
func TestLoadWatches(t *testing.T) {
	t.Setenv("OPERON_TEST_REGION", "north")
	file := writeWatches(t, `
- {group: example.com, version: v1, kind: First, chart: CHART, reconcilePeriod: 2m, timeout: 1h, maxHistory: 3, watchDependentResources: false,
   install: {retries: 2, strategy: none}, upgrade: {retries: -1},
   overrideValues: {region: "$OPERON_TEST_REGION"}, selector: {matchLabels: {tier: gold}}}
- {group: example.com, version: v1, kind: Second, chart: CHART, maxConcurrentReconciles: 4, reconcilePeriod: 3m}
- {group: example.com, version: v1, kind: Third, chart: gone}
`)
	options := func(gvk schema.GroupVersionKind) []Option {
		switch gvk.Kind {
		case "Second":
			return []Option{WithReconcilePeriod(time.Hour)}
		case "Third":
			return []Option{WithChart(&chartv2.Chart{})}
		}
		return nil
	}
	reconcilers, err := LoadWatches(file, options, WithReconcilePeriod(time.Minute), WithMaxConcurrentReconciles(2), WithNamespaces("a"), WithTimeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range reconcilers {
		got = append(got, fmt.Sprintln(r.GroupVersionKind().Kind, r.kind.Period, r.timeout, r.kind.MaxConcurrent, r.maxHistory, r.skipDependents, r.overrides, r.kind.Selector, r.namespaces, r.chart.chart != nil, r.installRemediation, r.upgradeRemediation))
	}
	want := []string{
		"First 2m0s 1h0m0s 2 3 true map[region:north] tier=gold [a] false {2 none} {-1 }\n",
		"Second 1h0m0s 1m0s 4 10 false map[]  [a] false {0 } {0 }\n",
		"Third 1m0s 1m0s 2 10 false map[]  [a] true {0 } {0 }\n",
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("options\n%q\nwant\n%q", got, want)
	}
	if reconcilers, err := LoadWatches(writeWatches(t, "[]\n"), nil); err != nil || len(reconcilers) != 0 {
		t.Errorf("a file without entries: %v, %v", reconcilers, err)
	}
}

// TestLoadWatchesErrors checks that all entries that cannot be reconciled are named with their lines.
func TestLoadWatchesErrors(t *testing.T) {
	t.Parallel()
	file := writeWatches(t, `- {version: v1, kind: A, chart: gone, overrideValues: {a: '{{ nonsense }}'}}
- {version: v1, kind: B, chart: CHART}
- {version: v1, kind: C, chart: CHART/Chart.yaml}
- {version: v1, kind: D, chart: CHART/..}
`)
	reconcilers, err := LoadWatches(file, func(gvk schema.GroupVersionKind) []Option {
		if gvk.Kind == "B" {
			return []Option{WithReconcilePeriod(-time.Second)}
		}
		return nil
	})
	if err == nil || reconcilers != nil {
		t.Fatalf("%v, %v", reconcilers, err)
	}
	for _, want := range []string{
		`watches.yaml:1:3: override value a: `, `watches.yaml:1:3: chart "gone": no such file or directory`, "watches.yaml:2:3: reconcile period -1s: must not be negative",
		"app/Chart.yaml\": is not a directory", "app/..\": is not a chart: it has no Chart.yaml",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not contain %q:\n%v", want, err)
		}
	}
	if _, err := LoadWatches(filepath.Join(t.TempDir(), "none.yaml"), nil); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "none.yaml: ") {
		t.Errorf("a missing file: %v", err)
	}
}

func TestWatchNamespaces(t *testing.T) {
	t.Parallel()
	for list, want := range map[string][]string{"": nil, " , ": nil, "a": {"a"}, " b, a,b,": {"a", "b"}} {
		if got := WatchNamespaces(list); !slices.Equal(got, want) {
			t.Errorf("WatchNamespaces(%q) = %q, want %q", list, got, want)
		}
	}
}
