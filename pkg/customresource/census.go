package customresource

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// conditionReady is the condition that all custom resources of Operon's reconcilers have.
const conditionReady = "Ready"

// A Census is a collector with the number of custom resources of each kind by condition, and the time since which the one that has not
// been ready for longest is not ready. The cluster's objects are the source, so that a series never outlives its resource and changes by
// others count. Only the leader has it: resources are counted while their controller runs.
type Census struct {
	conditions []string
	count      *prometheus.Desc
	since      *prometheus.Desc
	rollout    *prometheus.Desc

	mu       sync.Mutex
	counts   map[*kindCount]bool
	rollouts map[*Rollout]bool
}

// NewCensus returns a census of conditions, of which Ready is one. The prefix of the metrics ends with an underscore.
func NewCensus(prefix string, conditions ...string) *Census {
	labels := []string{"group", "version", "kind"}
	return &Census{
		conditions: conditions, counts: map[*kindCount]bool{}, rollouts: map[*Rollout]bool{},
		count: prometheus.NewDesc(prefix+"resource_conditions",
			"Number of custom resources by the status of a condition; it is Unknown without the condition",
			append(slices.Clone(labels), "condition", "status"), nil),
		since: prometheus.NewDesc(prefix+"resource_not_ready_since_timestamp_seconds",
			"Time since which the custom resource that has not been ready for longest is not ready; absent if all are ready", labels, nil),
		rollout: prometheus.NewDesc(prefix+"rollout_resources",
			"Number of custom resources that wait for their upgrade to the version of the operator, whose upgrade is in progress or has failed",
			append(slices.Clone(labels), "state"), nil),
	}
}

// Describe implements prometheus.Collector.
func (c *Census) Describe(descs chan<- *prometheus.Desc) {
	descs <- c.count
	descs <- c.since
	descs <- c.rollout
}

// Collect implements prometheus.Collector.
func (c *Census) Collect(metrics chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// Several controllers of a process can share a kind.
	kinds := map[schema.GroupVersionKind]*kindTotal{}
	for count := range c.counts {
		total := kinds[count.gvk]
		if total == nil {
			total = &kindTotal{numbers: make([]statusNumbers, len(c.conditions))}
			kinds[count.gvk] = total
		}
		for _, counted := range count.resources {
			total.add(counted)
		}
	}
	c.collectRollouts(metrics)
	for gvk, total := range kinds {
		for i, condition := range c.conditions {
			for j, status := range statuses {
				metrics <- prometheus.MustNewConstMetric(c.count, prometheus.GaugeValue, float64(total.numbers[i][j]),
					gvk.Group, gvk.Version, gvk.Kind, condition, string(status))
			}
		}
		if !total.since.IsZero() {
			metrics <- prometheus.MustNewConstMetric(c.since, prometheus.GaugeValue, float64(total.since.Unix()), gvk.Group, gvk.Version, gvk.Kind)
		}
	}
}

// statuses are the values of the label status. The last one is also for other values.
var statuses = [...]metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown}

// statusNumbers are the numbers of resources by status.
type statusNumbers [len(statuses)]int

// A kindTotal sums up the resources of a kind.
type kindTotal struct {
	numbers []statusNumbers // by condition
	since   time.Time
}

func (t *kindTotal) add(r countedResource) {
	for i, status := range r.statuses {
		t.numbers[i][status]++
	}
	if !r.notReadySince.IsZero() && (t.since.IsZero() || r.notReadySince.Before(t.since)) {
		t.since = r.notReadySince
	}
}

// A countedResource is what the census keeps of a custom resource.
type countedResource struct {
	statuses      []int // indexes of statuses, by condition
	notReadySince time.Time
}

func (c *Census) read(obj *unstructured.Unstructured) countedResource {
	r := countedResource{statuses: make([]int, len(c.conditions))}
	for i, condition := range c.conditions {
		fields := ReadCondition(obj, condition)
		status, _ := fields["status"].(string)
		if r.statuses[i] = slices.Index(statuses[:], metav1.ConditionStatus(status)); r.statuses[i] < 0 {
			r.statuses[i] = len(statuses) - 1
		}
		if condition != conditionReady || status == string(metav1.ConditionTrue) {
			continue
		}
		r.notReadySince = obj.GetCreationTimestamp().Time
		text, _ := fields["lastTransitionTime"].(string)
		if since, err := time.Parse(time.RFC3339, text); err == nil {
			r.notReadySince = since
		}
	}
	return r
}

// A kindCount is a predicate that counts the resources of one controller. It accepts all events: a predicate sees more than a handler.
type kindCount struct {
	census    *Census
	gvk       schema.GroupVersionKind
	matches   func(*unstructured.Unstructured) bool
	resources map[types.NamespacedName]countedResource
}

// start counts while ctx lasts.
func (k *kindCount) start(ctx context.Context) {
	k.census.mu.Lock()
	defer k.census.mu.Unlock()
	k.census.counts[k] = true
	context.AfterFunc(ctx, func() {
		k.census.mu.Lock()
		defer k.census.mu.Unlock()
		delete(k.census.counts, k)
	})
}

// set counts an object anew; gone if it no longer exists. What the selector excludes belongs to another operator.
func (k *kindCount) set(obj *unstructured.Unstructured, gone bool) bool {
	k.census.mu.Lock()
	defer k.census.mu.Unlock()
	key := client.ObjectKeyFromObject(obj)
	if gone || !k.matches(obj) {
		delete(k.resources, key)
	} else {
		k.resources[key] = k.census.read(obj)
	}
	return true
}

func (k *kindCount) Create(e event.TypedCreateEvent[*unstructured.Unstructured]) bool {
	return k.set(e.Object, false)
}

func (k *kindCount) Update(e event.TypedUpdateEvent[*unstructured.Unstructured]) bool {
	return k.set(e.ObjectNew, false)
}

func (k *kindCount) Delete(e event.TypedDeleteEvent[*unstructured.Unstructured]) bool {
	return k.set(e.Object, true)
}

func (k *kindCount) Generic(event.TypedGenericEvent[*unstructured.Unstructured]) bool { return true }
