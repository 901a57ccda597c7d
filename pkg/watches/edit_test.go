package watches_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/watches"
)

const entry = "- group: a.example.com\n  version: v1\n  kind: New\n  chart: helm-charts/new\n"

func TestAdd(t *testing.T) {
	t.Parallel()
	const old = "- chart: x # kept\n  kind: Old\n  version: v1\n"
	indented := "  " + strings.ReplaceAll(strings.TrimSuffix(entry, "\n"), "\n", "\n  ") + "\n"
	for name, test := range map[string]struct{ before, after string }{
		"empty":         {"", entry},
		"no end":        {"# c", "# c\n" + entry},
		"marker":        {"# c\n" + old + "# +kubebuilder:scaffold:watch\n", "# c\n" + old + entry + "# +kubebuilder:scaffold:watch\n"},
		"other marker":  {"#+kubebuilder:scaffold:watch\n# d\n", entry + "#+kubebuilder:scaffold:watch\n# d\n"},
		"marker first":  {"# +kubebuilder:scaffold:watch\n" + old, entry + "# +kubebuilder:scaffold:watch\n" + old},
		"marker inside": {"- kind: Old\n# +kubebuilder:scaffold:watch\n  version: v1\n  chart: x\n", "- kind: Old\n# +kubebuilder:scaffold:watch\n  version: v1\n  chart: x\n" + entry},
		"no marker":     {old + "  # selector: {}\n\n# end\n", old + "  # selector: {}\n" + entry + "\n# end\n"},
		"end mark":      {"---\n" + old + "...\n", "---\n" + old + entry + "...\n"},
		"empty list":    {"# c\n[]\n# d\n", "# c\n" + entry + "# d\n"},
		"indented":      {"  - {kind: Old, version: v1, chart: x}\n", "  - {kind: Old, version: v1, chart: x}\n" + indented},
		"CRLF":          {"# c\r\n# +kubebuilder:scaffold:watch\r\n", "# c\r\n" + strings.ReplaceAll(entry, "\n", "\r\n") + "# +kubebuilder:scaffold:watch\r\n"},
	} {
		got, err := watches.Add([]byte(test.before), watches.Watch{Group: "a.example.com", Version: "v1", Kind: "New", Chart: "helm-charts/new", WatchDependentResources: true})
		if err != nil || string(got) != test.after {
			t.Errorf("%s: %v, got\n%s\nwant\n%s", name, err, got, test.after)
		}
		gvk := schema.GroupVersionKind{Group: "a.example.com", Version: "v1", Kind: "New"}
		removed, err := watches.Remove(got, gvk)
		if want := strings.Replace(test.before, "[]\n", "", 1); err != nil || strings.TrimSuffix(string(removed), "\n") != strings.TrimSuffix(want, "\n") {
			t.Errorf("%s: %v, without the entry\n%s\nwant\n%s", name, err, removed, want)
		}
	}
}

// TestAddAllKeys checks that all keys of an entry are written as they are read.
func TestAddAllKeys(t *testing.T) {
	t.Parallel()
	five, zero, three := 5, 0, 3
	got, err := watches.Add(nil, watches.Watch{
		Version: "v1", Kind: "New", Chart: "yes", OverrideValues: map[string]string{"b": "1", "a": "x\ny"},
		TypedOverrideValues: map[string]any{"b": int64(1), "a": []any{"1", true}},
		Selector:            &metav1.LabelSelector{MatchLabels: map[string]string{"a": "1"}, MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "c", Operator: "Exists"}}},
		ReconcilePeriod:     time.Hour, DryRunOption: "none", MaxHistory: &five, MaxConcurrentReconciles: 2,
		Install: watches.Remediation{Retries: &zero}, Upgrade: watches.Remediation{Retries: &three, Strategy: "uninstall"},
	})
	const want = `- group: ""
  version: v1
  kind: New
  chart: "yes"
  watchDependentResources: false
  overrideValues:
    a: |-
      x
      y
    b: "1"
  typedOverrideValues:
    a:
      - "1"
      - true
    b: 1
  selector:
    matchExpressions:
      - key: c
        operator: Exists
    matchLabels:
      a: "1"
  reconcilePeriod: 1h0m0s
  dryRunOption: none
  maxHistory: 5
  install:
    retries: 0
  upgrade:
    retries: 3
    strategy: uninstall
  maxConcurrentReconciles: 2
`
	if err != nil || string(got) != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, got, want)
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	const a, b, c = "- kind: A\n  version: v1\n  chart: a\n  # of A\n", "# above B\n- kind: B\n  version: v1\n  chart: b\n", "\n# above C\n- {kind: C, version: v1, chart: c}\n"
	const head, tail = "# head\n", "# +kubebuilder:scaffold:watch\n"
	for kind, want := range map[string]string{"A": head + b + c + tail, "B": head + a + c + tail, "C": head + a + b + "\n" + tail, "D": head + a + b + c + tail} {
		got, err := watches.Remove([]byte(head+a+b+c+tail), schema.GroupVersionKind{Version: "v1", Kind: kind})
		if err != nil || string(got) != want {
			t.Errorf("%s: %v, got\n%s\nwant\n%s", kind, err, got, want)
		}
	}
}

func TestEditErrors(t *testing.T) {
	t.Parallel()
	w := watches.Watch{Version: "v1", Kind: "A", Chart: "a", WatchDependentResources: true}
	for text, want := range map[string]string{
		"- {version: v1, kind: A, chart: b}\n":  "watches.yaml:1:3: an entry for /v1, Kind=A already exists",
		"[{version: v1, kind: B, chart: b}]\n":  `watches.yaml: cannot be edited; write the entries as a list, each in lines of its own that begin with "- "`,
		"- {version: v1, kind: B, charts: b}\n": "watches.yaml:1:3: chart is required\nwatches.yaml:1:26: unknown key \"charts\"; did you mean \"chart\"?",
	} {
		if _, err := watches.Add([]byte(text), w); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := watches.Add(nil, watches.Watch{Kind: "A"}); err == nil || !strings.Contains(err.Error(), "version is required") {
		t.Errorf("an invalid entry: %v", err)
	}
	flow := []byte("[{version: v1, kind: A, chart: b}, {version: v1, kind: B, chart: b}]\n")
	if _, err := watches.Remove(flow, schema.GroupVersionKind{Version: "v1", Kind: "A"}); err == nil {
		t.Error("an entry of a list in one line is removed")
	}
}
