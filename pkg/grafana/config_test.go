package grafana

import (
	"slices"
	"strings"
	"testing"
)

// TestReadConfig reads the forms in which users of kubebuilder and operator-sdk write the file.
func TestReadConfig(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want []Metric
	}{
		"empty":     {"", nil},
		"comments":  {"---\n# nothing\n", nil},
		"null":      {"---\ncustomMetrics:\n#  - metric: # raw\n", nil},
		"none":      {"customMetrics: []\n", nil},
		"minimal":   {"customMetrics:\n- metric: a_total\n  type: counter\n", []Metric{{Name: "a_total", Type: "counter"}}},
		"upper":     {"customMetrics:\n- metric: a\n  type: Gauge\n", []Metric{{Name: "a", Type: "gauge"}}},
		"null unit": {"customMetrics:\n- metric: a\n  type: gauge\n  unit:\n", []Metric{{Name: "a", Type: "gauge"}}},
		"escaped quotes": {
			"---\r\ncustomMetrics:\r\n  - metric: a:b\r\n    type: histogram\r\n    expr: sum(a{job=\\\"$job\\\", x=~\\\"\\\\\\\\d\\\"})\r\n    unit: s\r\n",
			[]Metric{{Name: "a:b", Type: "histogram", Query: `sum(a{job="$job", x=~"\\d"})`, Unit: "s"}},
		},
		"plain quotes": {
			"customMetrics:\n- metric: a\n  type: gauge\n  expr: |\n    a{x=\"y\\\"z\"}\n",
			[]Metric{{Name: "a", Type: "gauge", Query: `a{x="y\"z"}`}},
		},
		"twice": {
			"customMetrics: [{metric: a, type: gauge}, {metric: a, type: gauge, expr: max(a)}]",
			[]Metric{{Name: "a", Type: "gauge"}, {Name: "a", Type: "gauge", Query: "max(a)"}},
		},
	} {
		got, _, err := ReadConfig([]byte(test.text))
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, test.want)
		}
	}
}

// TestReadConfigProblems expects every problem to be named with its place.
func TestReadConfigProblems(t *testing.T) {
	t.Parallel()
	const text = `customMetric: []
customMetrics:
- metric: a-b
  type: summary
- typ: gauge
- type: gauge
- metric: ok
- metric: [a]
  type: gauge
- plain
- metric: 1a
  type: timer
- name: a
  type: gauge
`
	want := []string{
		`:3:11: metric "a-b": must be the name of a metric`,
		`:4:9: type "summary": must be counter, gauge or histogram; list a summary as a gauge`,
		`:5:3: metric is required`,
		`:5:3: type is required`,
		`:6:3: metric is required`,
		`:7:3: type is required: counter, gauge or histogram`,
		`:8:11: metric must be a string`,
		`:10:3: an item of customMetrics must be a mapping`,
		`:11:11: metric "1a": must be the name`,
		`:12:9: type "timer": must be counter, gauge or histogram`,
		`:13:9: metric is required: the key of the name is metric`,
	}
	metrics, unknown, err := ReadConfig([]byte(text))
	if err == nil {
		t.Fatalf("read %q", metrics)
	}
	lines := strings.Split(err.Error(), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return !strings.Contains(line, ConfigFile) })
	if len(lines) != len(want) {
		t.Fatalf("got\n%s\nwant %d problems", err, len(want))
	}
	for i, line := range lines {
		if !strings.Contains(line, ConfigFile+want[i]) {
			t.Errorf("got  %s\nwant %s", line, want[i])
		}
	}
	for i, want := range []string{`:1:1: the key "customMetric" has no effect; did you mean "customMetrics"?`, `:5:3: the key "typ" has no effect; did you mean "type"?`, `:13:3: the key "name" has no effect`} {
		if len(unknown) != 3 || !strings.Contains(unknown[i].Error(), ConfigFile+want) {
			t.Errorf("unknown keys %v, want %s", unknown, want)
		}
	}
	for _, text := range []string{"- a\n", "customMetrics: {}\n", "customMetrics: [\n", "x: &a [*a]\n"} {
		if _, _, err := ReadConfig([]byte(text)); err == nil || !strings.Contains(err.Error(), ConfigFile) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzReadConfig(f *testing.F) {
	f.Add([]byte("customMetrics:\n- metric: a\n  type: gauge\n  expr: a{b=\\\"c\\\"}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		metrics, _, err := ReadConfig(text)
		if err != nil {
			return
		}
		if _, _, err := Dashboard(nil, "x", metrics); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}
