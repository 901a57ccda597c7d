package helmoperator

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

const (
	defaultMaxHistory = 10
	// The delays after failed passes.
	minBackoff = time.Second
	maxBackoff = 5 * time.Minute
	// selectorGrace is the time that other reconcilers have to uninstall the release of a resource that does not match the selector.
	selectorGrace = 30 * time.Second
)

// A Reconciler reconciles the custom resources of one kind: each is a release of a chart. Create it with New.
type Reconciler struct {
	gvk               schema.GroupVersionKind
	chart             *chartSource
	overrides         map[string]string
	typedOverrides    map[string]any
	suppressOverrides bool
	selector          labels.Selector
	period            time.Duration
	maxConcurrent     int
	maxHistory        int
	preHooks          []Hook
	postHooks         []Hook
	translator        ValueTranslator
	postRender        func([]*unstructured.Unstructured) ([]*unstructured.Unstructured, error)
	skipDependents    bool
	dryRun            string
	namespaces        []string
	manifestLimit     int
	events            record.EventRecorder
	log               logr.Logger

	now   func() time.Time
	grace time.Duration

	// These are set by Setup.
	client     client.Client
	cached     client.Reader // custom resources
	reader     client.Reader // anything, uncached
	factory    *release.Factory
	dependents *releaseWatcher
	metrics    *collectors

	tracker tracker
	watched watchedKinds
}

// New returns a reconciler. WithGroupVersionKind and one of WithChart and WithChartPath are required. The error names all invalid options.
func New(options ...Option) (*Reconciler, error) {
	r := &Reconciler{maxHistory: defaultMaxHistory, maxConcurrent: 1, selector: labels.Everything(), now: time.Now, grace: selectorGrace}
	var errs []error
	for _, option := range options {
		if err := option(r); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 && r.gvk.Empty() {
		errs = append(errs, errors.New("group, version and kind are required; use WithGroupVersionKind"))
	}
	if len(errs) == 0 && r.chart == nil {
		errs = append(errs, errors.New("a chart is required; use WithChart or WithChartPath"))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return r, nil
}

// GroupVersionKind returns the kind of the custom resources.
func (r *Reconciler) GroupVersionKind() schema.GroupVersionKind { return r.gvk }

// SetupWithManager adds the controller of the reconciler to a manager. Use Setup for several reconcilers.
func (r *Reconciler) SetupWithManager(mgr manager.Manager) error { return Setup(mgr, r) }

// Setup adds the controllers of reconcilers to a manager. They share the watches of objects of their releases. The namespaces of the
// watches are those of the first reconciler.
func Setup(mgr manager.Manager, reconcilers ...*Reconciler) error {
	if len(reconcilers) == 0 {
		return nil
	}
	metrics, err := registerCollectors(defaultRegistry())
	if err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	log := reconcilers[0].log
	if log.GetSink() == nil {
		log = mgr.GetLogger()
	}
	watches, err := newReleaseWatcher(mgr.GetConfig(), mgr.GetHTTPClient(), mgr.GetRESTMapper(), reconcilers[0].namespaces, log.WithName("dependents"))
	if err != nil {
		return fmt.Errorf("creating the watches of releases: %w", err)
	}
	if err := mgr.Add(watches); err != nil {
		return err
	}
	factory, err := release.NewFactory(release.Config{REST: mgr.GetConfig(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return err
	}
	for _, r := range reconcilers {
		r.dependents, r.factory, r.metrics = watches, factory, metrics
		if err := r.addController(mgr); err != nil {
			return fmt.Errorf("adding the controller of %s: %w", r.gvk.Kind, err)
		}
	}
	return nil
}

// addController adds the controller of r to a manager.
func (r *Reconciler) addController(mgr manager.Manager) error {
	r.client, r.cached, r.reader = mgr.GetClient(), mgr.GetCache(), mgr.GetAPIReader()
	if r.log.GetSink() == nil {
		r.log = mgr.GetLogger().WithValues("kind", r.gvk.Kind)
	}
	name := customresource.ControllerName(r.gvk)
	if r.events == nil {
		// The roles of existing projects permit events of the core group only.
		r.events = mgr.GetEventRecorderFor(strings.ToLower(r.gvk.Kind) + "-controller")
	}
	c, err := controller.New(name, mgr, controller.Options{
		Reconciler:              r,
		MaxConcurrentReconciles: r.maxConcurrent,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](minBackoff, maxBackoff),
	})
	if err != nil {
		return err
	}
	primary := source.Kind(mgr.GetCache(), customresource.Empty(r.gvk),
		&handler.TypedEnqueueRequestForObject[*unstructured.Unstructured]{}, primaryPredicate())
	return c.Watch(customresource.Source(r.gvk, primary, r.watched.start))
}
