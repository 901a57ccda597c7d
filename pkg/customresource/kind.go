package customresource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

const (
	// The delays after failed passes.
	minBackoff = time.Second
	maxBackoff = 5 * time.Minute
)

// A Kind describes which custom resources a reconciler handles, and when. NewKind returns one with defaults.
type Kind struct {
	GVK      schema.GroupVersionKind
	Selector labels.Selector
	// Period is the time between two passes without changes; 0 disables them.
	Period        time.Duration
	MaxConcurrent int
	// Backoff is the delay after the first failed pass. It doubles with each further one, up to 5 minutes or itself.
	Backoff time.Duration
	Log     logr.Logger
	Now     func() time.Time
	// Operator is this operator, as resources that it has taken over name it.
	Operator *Operator
	// Census counts the resources for metrics, unless it is nil.
	Census *Census
	// Rollout limits upgrades to a new version of the operator, unless it is nil. SetRollout sets it.
	Rollout *Rollout
	// Target is the namespace of what is created for cluster-scoped resources.
	Target Target
	// NoStatus leaves the status to others.
	NoStatus bool
	memory   *memory

	// Cache contains the custom resources. AddController sets it and the writer.
	Cache client.Reader
	Writer
}

// NewKind returns a Kind that selects all resources, one at a time. The annotation contains the operator that finalizes a resource.
func NewKind(period time.Duration, annotation string) Kind {
	return Kind{Selector: labels.Everything(), Period: period, MaxConcurrent: 1, Backoff: minBackoff, Now: time.Now, Operator: &Operator{Annotation: annotation}, memory: &memory{}}
}

// Apply applies the options of a reconciler of a kind, which they must set. The error names all invalid options.
func Apply[R any, O ~func(*R) error](reconciler *R, kind *Kind, options []O) error {
	var errs []error
	for _, option := range options {
		errs = append(errs, option(reconciler))
	}
	err := errors.Join(errs...)
	if err == nil && kind.GVK.Empty() {
		err = errors.New("group, version and kind are required; use WithGroupVersionKind")
	}
	return err
}

// SetGVK sets the group, version and kind; only the group may be empty.
func (k *Kind) SetGVK(gvk schema.GroupVersionKind) error {
	if gvk.Version == "" || gvk.Kind == "" {
		return errors.New("group, version and kind: version and kind are required")
	}
	k.GVK = gvk
	return nil
}

// SetSelector restricts the reconciler to resources with matching labels.
func (k *Kind) SetSelector(selector metav1.LabelSelector) error {
	parsed, err := metav1.LabelSelectorAsSelector(&selector)
	if err != nil {
		return fmt.Errorf("selector: %w", err)
	}
	k.Selector = parsed
	return nil
}

// SetOperator sets the name of the operator, which can be empty.
func (k *Kind) SetOperator(name string) error {
	if strings.Contains(name, ":") {
		return fmt.Errorf("name of the operator %q: must not contain a colon", name)
	}
	k.Operator.Name = name
	return nil
}

// SetPeriod sets the time between two passes without changes.
func (k *Kind) SetPeriod(period time.Duration) error {
	return SetNotNegative(&k.Period, "reconcile period", period)
}

// SetMaxConcurrent sets the number of resources that are reconciled at the same time.
func (k *Kind) SetMaxConcurrent(n int) error {
	return SetPositive(&k.MaxConcurrent, "maximum of concurrent reconciles", n)
}

// SetNotNegative sets a value that an error names by its subject.
func SetNotNegative[T int | time.Duration](into *T, subject string, value T) error {
	if value < 0 {
		return fmt.Errorf("%s %v: must not be negative", subject, value)
	}
	*into = value
	return nil
}

// SetPositive sets a number that an error names by its subject.
func SetPositive(into *int, subject string, n int) error {
	if n < 1 {
		return fmt.Errorf("%s %d: must be greater than zero", subject, n)
	}
	*into = n
	return nil
}

// AddController adds a controller of the custom resources to a manager. An update that changes neither the spec nor whether the
// resource is being deleted adds a pass only if changed reports true. The function started receives the queue of the controller,
// which starts even while the kind does not exist.
func (k *Kind) AddController(mgr manager.Manager, r reconcile.Reconciler, h handler.TypedEventHandler[*unstructured.Unstructured, reconcile.Request],
	changed func(before, after *unstructured.Unstructured) bool, started func(context.Context, Queue),
) error {
	k.Cache, k.Writer = mgr.GetCache(), Writer{Client: mgr.GetClient(), Reader: mgr.GetAPIReader()}
	if k.Log.GetSink() == nil {
		k.Log = mgr.GetLogger().WithValues("group", k.GVK.Group, "kind", k.GVK.Kind)
	}
	c, err := controller.New(controllerName(k.GVK), mgr, controller.Options{
		Reconciler:              r,
		MaxConcurrentReconciles: k.MaxConcurrent,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](k.Backoff, max(k.Backoff, maxBackoff)),
	})
	if err != nil {
		return err
	}
	updated := predicate.TypedFuncs[*unstructured.Unstructured]{
		UpdateFunc: func(e event.TypedUpdateEvent[*unstructured.Unstructured]) bool {
			before, after := e.ObjectOld, e.ObjectNew
			return before.GetUID() != after.GetUID() || before.GetGeneration() != after.GetGeneration() ||
				(before.GetDeletionTimestamp() == nil) != (after.GetDeletionTimestamp() == nil) ||
				after.GetDeletionTimestamp() != nil && k.Operator.isRecordChanged(before, after) || changed(before, after)
		},
	}
	predicates := []predicate.TypedPredicate[*unstructured.Unstructured]{updated}
	if k.Census != nil {
		count := &kindCount{census: k.Census, gvk: k.GVK, matches: k.Matches, resources: map[types.NamespacedName]countedResource{}}
		predicates = slices.Insert(predicates, 0, predicate.TypedPredicate[*unstructured.Unstructured](count)) // first, as a refusal ends the list
		inner := started
		started = func(ctx context.Context, queue Queue) { count.start(ctx); inner(ctx, queue) }
	}
	if k.Rollout != nil {
		predicates = slices.Insert(predicates, 0, predicate.TypedPredicate[*unstructured.Unstructured](rolloutEvents{k.Rollout}))
		inner := started
		started = func(ctx context.Context, queue Queue) { k.Census.startRollout(ctx, k.Rollout); inner(ctx, queue) }
	}
	return c.Watch(unsynced{k.GVK, source.Kind(mgr.GetCache(), Empty(k.GVK), h, predicates...), started})
}

// Matches reports whether the selector matches a resource.
func (k *Kind) Matches(obj *unstructured.Unstructured) bool {
	return k.Selector.Matches(labels.Set(obj.GetLabels()))
}

// Get returns a custom resource from the cache, or nil if it doesn't exist.
func (k *Kind) Get(ctx context.Context, key types.NamespacedName) (*unstructured.Unstructured, error) {
	obj := Empty(k.GVK)
	switch err := k.Cache.Get(ctx, key, obj); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return obj, nil
}
