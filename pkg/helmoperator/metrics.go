package helmoperator

import (
	"errors"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// collectors are the metrics of this package. docs/metrics.md describes them.
type collectors struct {
	census       *customresource.Census
	created      *prometheus.GaugeVec
	operations   *prometheus.CounterVec
	duration     *prometheus.HistogramVec
	lastSuccess  *prometheus.GaugeVec
	refusals     *prometheus.CounterVec
	remediations *prometheus.CounterVec
	drift        *prometheus.CounterVec
	waits        *prometheus.GaugeVec
}

// registerCollectors returns the collectors of a registry, which all reconcilers of a process share.
func registerCollectors(registry prometheus.Registerer) (*collectors, error) {
	kind := []string{"group", "version", "kind"}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "helm_operator_release_" + name, Help: help}, append(kind[:3:3], labels...))
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	c := &collectors{
		census: customresource.NewCensus("helm_operator_", ConditionReady, ConditionReleaseFailed, ConditionIrreconcilable, ConditionDrifted,
			ConditionDeterministic, ConditionCRDsUpToDate, ConditionOwnershipConflict, ConditionTestSuccess, ConditionOutdated, ConditionPaused, ConditionDeletionBlocked),
		created: gauge("resource_created_at_seconds", "Time of creation of a custom resource, in seconds since the epoch",
			"name", "namespace", "group", "version", "kind"),
		operations: counter("operations_total", "Number of operations on releases, by result (success or error)", "operation", "result"),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "helm_operator_release_operation_duration_seconds",
			Help: "Duration of operations on releases, with waits for hooks",
			// Most operations take less than a second, but hooks that migrate data can take hours.
			Buckets: []float64{0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600},
		}, append(kind[:3:3], "operation")),
		lastSuccess: gauge("helm_operator_release_last_success_timestamp_seconds", "Time of the last successful operation since the start of the process",
			append(kind[:3:3], "operation")...),
		refusals:     counter("refusals_total", "Number of operations that were not started because the API server refuses objects", "operation"),
		remediations: counter("remediations_total", "Number of retries, rollbacks and removals after failed operations, by result", "action", "result"),
		drift: counter("drifted_objects_total", "Number of objects of releases that others changed or deleted, and that were repaired or reported",
			"action"),
		waits: gauge("helm_operator_releases_waiting", "Number of releases whose operation waits for a hook or a CRD", append(kind[:3:3], "reason")...),
	}
	return c, errors.Join(customresource.RegisterBuildInfo(registry, "helm_operator_build_info"),
		customresource.Register(registry, &c.census), customresource.Register(registry, &c.created), customresource.Register(registry, &c.operations),
		customresource.Register(registry, &c.duration), customresource.Register(registry, &c.lastSuccess), customresource.Register(registry, &c.refusals),
		customresource.Register(registry, &c.remediations), customresource.Register(registry, &c.drift), customresource.Register(registry, &c.waits))
}

// The values of the labels operation and result, and the actions of remediations and drift.
const (
	operationCheck, operationInstall, operationUpgrade    = "check", "install", "upgrade"
	operationTest, operationRepair, operationUninstall    = "test", "repair", "uninstall"
	resultSuccess, resultError                            = "success", "error"
	remediationRetry                                      = "retry"
	driftRepaired, driftReported, waitForHook, waitForCRD = "repaired", "reported", "hook", "crd"
)

func resultOf(err error) string {
	if err != nil {
		return resultError
	}
	return resultSuccess
}

// initialize creates the counters of a kind: rate and increase don't see the first event of a series that begins with it.
func (c *collectors) initialize(gvk schema.GroupVersionKind) {
	for _, result := range []string{resultSuccess, resultError} {
		for _, operation := range []string{operationCheck, operationInstall, operationUpgrade, operationTest, operationRepair, operationUninstall} {
			c.operations.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind, operation, result)
		}
		for _, action := range []string{remediationRetry, string(release.StrategyRollback), string(release.StrategyUninstall)} {
			c.remediations.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind, action, result)
		}
	}
	for _, operation := range []string{operationInstall, operationUpgrade} {
		c.refusals.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind, operation)
	}
	for _, action := range []string{driftRepaired, driftReported} {
		c.drift.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind, action)
	}
	for _, reason := range []string{waitForHook, waitForCRD} {
		c.waits.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind, reason)
	}
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

// observe records an operation.
func (c *collectors) observe(gvk schema.GroupVersionKind, operation string, duration time.Duration, err error) {
	c.operations.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind, operation, resultOf(err)).Inc()
	c.duration.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind, operation).Observe(duration.Seconds())
	if err == nil {
		c.lastSuccess.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind, operation).SetToCurrentTime()
	}
}

// observeRefusal records that the API server refuses an operation.
func (c *collectors) observeRefusal(gvk schema.GroupVersionKind, action release.Action) {
	c.refusals.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind, strings.ToLower(string(action))).Inc()
}

// observeRetry records an operation that was tried again after failures; known is nil if it has not failed before.
func (c *collectors) observeRetry(gvk schema.GroupVersionKind, known *failure, err error) {
	if known != nil {
		c.remediations.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind, remediationRetry, resultOf(err)).Inc()
	}
}

// remediationsOf returns a function that records what happens to releases after failures.
func (c *collectors) remediationsOf(gvk schema.GroupVersionKind) func(release.Strategy, error) {
	return func(strategy release.Strategy, err error) {
		c.remediations.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind, string(strategy), resultOf(err)).Inc()
	}
}

// observeDrift records objects that others changed or deleted.
func (c *collectors) observeDrift(gvk schema.GroupVersionKind, action string, objects int) {
	c.drift.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind, action).Add(float64(objects))
}

// observeWait records a wait that ends with the returned function.
func (c *collectors) observeWait(gvk schema.GroupVersionKind, w release.Waiting) (end func()) {
	reason := waitForCRD
	if w.Hook != "" {
		reason = waitForHook
	}
	waits := c.waits.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind, reason)
	waits.Inc()
	return waits.Dec
}
