package ansibleoperator

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
)

func TestUserMetricErrors(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "taken", Help: "x"}))
	u := newUserMetrics("", registry, logr.Discard())
	for text, want := range map[string]string{
		`{"name": "a b", "description": "x", "counter": {}}`:                   `name "a b": must be a metric name`,
		`{"name": "a", "description": "x"}`:                                    "exactly one of counter, gauge, histogram and summary is required",
		`{"name": "a", "description": "x", "counter": {}, "gauge": {}}`:        "exactly one of",
		`{"name": "a", "counter": {"increment": true}}`:                        "description is required",
		`{"name": "a", "description": "x", "counter": {"add": -1}}`:            "counter a: must not decrease",
		`{"name": "taken", "description": "x", "gauge": {"set": 1}}`:           "metric taken is one of the operator",
		`{"name": "a", "description": "x", "gauge": {}, "labels": {"a": "b"}}`: "labels are not supported",
	} {
		var m userMetric
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		if err := u.apply(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	number := 1.0
	for i := range maxUserMetrics + 1 {
		err := u.apply(userMetric{Name: fmt.Sprintf("m%d", i), Help: "x", Gauge: &userGauge{Set: &number, Decrement: true}})
		if (err != nil) != (i == maxUserMetrics) {
			t.Fatalf("metric %d: %v", i, err)
		}
	}
	if err := u.apply(userMetric{Name: "m0", Help: "x", Counter: &userCounter{}}); err == nil || !strings.Contains(err.Error(), "metric m0 is a gauge") {
		t.Errorf("a counter named as a gauge: %v", err)
	}
}
