package ansibleoperator

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
	"github.com/operon-sdk/operon/pkg/customresource"
)

// collectors are the metrics of this package, some of them with the names of operator-sdk. docs/metrics.md describes them.
type collectors struct {
	census      *customresource.Census
	results     *prometheus.GaugeVec
	durations   *prometheus.HistogramVec
	runs        *prometheus.CounterVec
	inProgress  *prometheus.GaugeVec
	lastSuccess *prometheus.GaugeVec
	killed      *prometheus.CounterVec
	tasks       *prometheus.CounterVec
}

// registerCollectors returns the collectors of a registry, which all reconcilers of a process share.
func registerCollectors(registry prometheus.Registerer) (*collectors, error) {
	kind := []string{"group", "version", "kind"}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ansible_operator_" + name, Help: help}, append(kind[:3:3], labels...))
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "ansible_operator_" + name, Help: help}, labels)
	}
	c := &collectors{
		census:  customresource.NewCensus("ansible_operator_", ConditionReady, ConditionFailure, ConditionOutdated, ConditionPaused),
		results: gauge("reconcile_result", "Number of runs since the start of the operator, by result (succeeded or failed)", "GVK", "result"),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "ansible_operator_reconciles",
			Help:    "Duration of runs in seconds, from start to end",
			Buckets: []float64{0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600},
		}, []string{"GVK"}),
		runs:       counter("runs_total", "Number of runs that have ended, by action (reconcile or finalize) and result (succeeded, failed or requeued)", "action", "result"),
		inProgress: gauge("runs_in_progress", "Number of runs in progress", kind...),
		lastSuccess: gauge("run_last_success_timestamp_seconds", "Time of the last successful run since the start of the process",
			append(kind[:3:3], "action")...),
		killed: counter("runs_killed_total", "Number of runs that were ended before their playbook was, by reason", "reason"),
		tasks:  counter("tasks_total", "Number of tasks, as in the recap of Ansible: changed ones are ok, too", "result"),
	}
	return c, errors.Join(customresource.RegisterBuildInfo(registry, "ansible_operator_build_info"),
		customresource.Register(registry, &c.census), customresource.Register(registry, &c.results),
		customresource.Register(registry, &c.durations), customresource.Register(registry, &c.runs), customresource.Register(registry, &c.inProgress),
		customresource.Register(registry, &c.lastSuccess), customresource.Register(registry, &c.killed), customresource.Register(registry, &c.tasks))
}

const (
	actionReconcile, actionFinalize             = "reconcile", "finalize"
	resultSucceeded, resultFailed, resultQueued = "succeeded", "failed", "requeued"
	// killedByDeletion is the reason of a run that ended because the custom resource was deleted.
	killedByDeletion = "deleted"
)

// initialize creates the counters of a kind: rate and increase don't see the first event of a series that begins with it.
func (c *collectors) initialize(gvk schema.GroupVersionKind, finalizes bool) {
	actions := []string{actionReconcile}
	if finalizes {
		actions = append(actions, actionFinalize)
	}
	for _, action := range actions {
		for _, result := range []string{resultSucceeded, resultFailed, resultQueued} {
			c.runs.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind, action, result)
		}
	}
	for _, reason := range []string{runner.KilledByTimeout, runner.KilledByArtifacts, runner.KilledBySupervisor, killedByDeletion, "SIGKILL"} {
		c.killed.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind, reason)
	}
	c.inProgress.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind)
	c.addTasks(gvk, runner.Stats{})
}

// observe records a run that has ended by itself.
func (c *collectors) observe(gvk schema.GroupVersionKind, finalizing bool, duration time.Duration, result *runner.Result, err error) {
	action := actionReconcile
	if finalizing {
		action = actionFinalize
	}
	outcome := resultSucceeded
	switch {
	case err != nil || result.Failed():
		outcome = resultFailed
	case result.RequeueAfter != nil:
		outcome = resultQueued
	}
	c.runs.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind, action, outcome).Inc()
	if outcome == resultSucceeded {
		c.lastSuccess.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind, action).SetToCurrentTime()
	}
	if outcome == resultQueued {
		outcome = resultSucceeded // as in operator-sdk
	}
	c.results.WithLabelValues(gvk.String(), outcome).Inc()
	c.durations.WithLabelValues(gvk.String()).Observe(duration.Seconds())
}

// observeRun records a run in progress until the returned function is called with its result, which is nil if it was not started. deleted
// reports whether it ended because the custom resource was deleted.
func (c *collectors) observeRun(gvk schema.GroupVersionKind) (end func(result *runner.Result, deleted bool)) {
	inProgress := c.inProgress.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind)
	inProgress.Inc()
	return func(result *runner.Result, deleted bool) {
		inProgress.Dec()
		if result == nil {
			return
		}
		c.addTasks(gvk, result.Stats)
		reason := result.Killed
		if deleted {
			reason = killedByDeletion
		}
		if reason != "" {
			c.killed.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind, reason).Inc()
		}
	}
}

func (c *collectors) addTasks(gvk schema.GroupVersionKind, s runner.Stats) {
	for result, n := range map[string]int{
		"ok": s.OK, "changed": s.Changed, "unreachable": s.Unreachable, "failed": s.Failures, "skipped": s.Skipped, "rescued": s.Rescued, "ignored": s.Ignored,
	} {
		c.tasks.WithLabelValues(gvk.Group, gvk.Version, gvk.Kind, result).Add(float64(max(n, 0))) // plugins can report anything
	}
}
