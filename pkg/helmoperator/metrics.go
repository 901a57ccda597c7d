package helmoperator

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-sdk/operon/pkg/customresource"
)

// collectors are the metrics of this package. The documentation of the package describes them.
type collectors struct {
	created    *prometheus.GaugeVec
	operations *prometheus.CounterVec
	duration   *prometheus.HistogramVec
}

// registerCollectors returns the collectors of a registry, which all reconcilers of a process share.
func registerCollectors(registry prometheus.Registerer) (*collectors, error) {
	c := &collectors{
		created: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "resource_created_at_seconds",
			Help: "Time of creation of a custom resource, in seconds since the epoch",
		}, []string{"name", "namespace", "group", "version", "kind"}),
		operations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "helm_operator_release_operations_total",
			Help: "Number of operations on releases, by result (success or error)",
		}, []string{"group", "version", "kind", "operation", "result"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "helm_operator_release_operation_duration_seconds",
			Help:    "Duration of operations on releases",
			Buckets: []float64{0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300},
		}, []string{"group", "version", "kind", "operation"}),
	}
	return c, errors.Join(customresource.RegisterBuildInfo(registry, "helm_operator_build_info"),
		customresource.Register(registry, &c.created), customresource.Register(registry, &c.operations),
		customresource.Register(registry, &c.duration))
}

// setCreated records the time of creation of a custom resource.
func (c *collectors) setCreated(obj metav1.Object, gvk schema.GroupVersionKind) {
	c.created.WithLabelValues(obj.GetName(), obj.GetNamespace(), gvk.Group, gvk.Version, gvk.Kind).
		Set(float64(obj.GetCreationTimestamp().Unix()))
}

// deleteCreated removes the time of creation of a custom resource that no longer exists.
func (c *collectors) deleteCreated(key types.NamespacedName, gvk schema.GroupVersionKind) {
	c.created.DeleteLabelValues(key.Name, key.Namespace, gvk.Group, gvk.Version, gvk.Kind)
}

// observe records an operation that began at start.
func (c *collectors) observe(gvk schema.GroupVersionKind, operation string, duration time.Duration, err error) {
	result := "success"
	if err != nil {
		result = "error"
	}
	c.operations.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind, operation, result).Inc()
	c.duration.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind, operation).Observe(duration.Seconds())
}
