package documented

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// A Metric is a metric of the tables in docs/metrics.md.
type Metric struct {
	Type   string
	Labels []string
}

var (
	row = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\| (.*?) \\| .+ \\|$")
	// desc matches the text of a description, which has no accessors.
	desc = regexp.MustCompile(`fqName: "(\w+)".*variableLabels: \{([^}]*)\}`)
)

// Metrics returns the metrics in the section of an operator, Helm or Ansible, by name.
func Metrics(t *testing.T, section string) map[string]Metric {
	t.Helper()
	_, rest, found := strings.Cut(Page(t, "metrics.md"), "\n## "+section+"\n")
	rest, _, _ = strings.Cut(rest, "\n## ")
	metrics := map[string]Metric{}
	for _, match := range row.FindAllStringSubmatch(rest, -1) {
		metrics[match[1]] = Metric{match[2], strings.Split(strings.ReplaceAll(match[3], "`", ""), ", ")}
	}
	if !found || len(metrics) == 0 {
		t.Fatalf("docs/metrics.md has no metrics in the section %s", section)
	}
	return metrics
}

// Labels returns the sorted labels of the metrics of a collector by name.
func Labels(t *testing.T, collector prometheus.Collector) map[string][]string {
	t.Helper()
	descs := make(chan *prometheus.Desc)
	go func() {
		collector.Describe(descs)
		close(descs)
	}()
	labels := map[string][]string{}
	for d := range descs {
		match := desc.FindStringSubmatch(d.String())
		if match == nil {
			t.Fatalf("unknown form of %s", d)
		}
		labels[match[1]] = strings.Split(match[2], ",")
	}
	return labels
}

// A Recorder is a registry that remembers its collectors.
type Recorder struct {
	*prometheus.Registry
	collectors []prometheus.Collector
}

// NewRecorder returns an empty registry.
func NewRecorder() *Recorder { return &Recorder{Registry: prometheus.NewRegistry()} }

// Register implements prometheus.Registerer.
func (r *Recorder) Register(c prometheus.Collector) error {
	r.collectors = append(r.collectors, c)
	return r.Registry.Register(c)
}

// Compare compares all registered metrics with the section of an operator: names, types and labels. It also checks them as promlint does,
// except for the names in old, which others have chosen.
func (r *Recorder) Compare(t *testing.T, section string, old ...string) {
	t.Helper()
	documented := Metrics(t, section)
	for _, c := range r.collectors {
		for name, labels := range Labels(t, c) {
			want, ok := documented[name]
			if got := (Metric{typeOf(c), labels}); !ok || got.Type != want.Type || !slices.Equal(sorted(got.Labels), sorted(want.Labels)) {
				t.Errorf("docs/metrics.md says that %s is %v, but it is %v", name, want, got)
			}
			delete(documented, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(documented)) {
		t.Errorf("docs/metrics.md has %s, which does not exist", name)
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		if !slices.Contains(old, problem.Metric) {
			t.Errorf("%s: %s", problem.Metric, problem.Text)
		}
	}
}

func sorted(labels []string) []string { return slices.Sorted(slices.Values(labels)) }

func typeOf(c prometheus.Collector) string {
	switch c.(type) {
	case *prometheus.CounterVec:
		return "counter"
	case *prometheus.HistogramVec:
		return "histogram"
	}
	return "gauge"
}
