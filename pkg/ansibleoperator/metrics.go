package ansibleoperator

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/customresource"
)

// collectors are the metrics of this package, with the names of operator-sdk. The documentation of the package describes them.
type collectors struct {
	results   *prometheus.GaugeVec
	durations *prometheus.HistogramVec
}

// registerCollectors returns the collectors of a registry, which all reconcilers of a process share.
func registerCollectors(registry prometheus.Registerer) (*collectors, error) {
	c := &collectors{
		results: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "ansible_operator_reconcile_result",
			Help: "Number of runs since the start of the operator, by result (succeeded or failed)",
		}, []string{"GVK", "result"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "ansible_operator_reconciles",
			Help:    "Duration of runs in seconds, from start to end",
			Buckets: []float64{0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600},
		}, []string{"GVK"}),
	}
	return c, errors.Join(customresource.RegisterBuildInfo(registry, "ansible_operator_build_info"),
		customresource.Register(registry, &c.results),
		customresource.Register(registry, &c.durations))
}

func (c *collectors) observe(gvk schema.GroupVersionKind, duration time.Duration, failed bool) {
	result := "succeeded"
	if failed {
		result = "failed"
	}
	c.results.WithLabelValues(gvk.String(), result).Inc()
	c.durations.WithLabelValues(gvk.String()).Observe(duration.Seconds())
}
