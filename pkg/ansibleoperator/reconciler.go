package ansibleoperator

import (
	"errors"
	"maps"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/operon-sdk/operon/pkg/customresource"
)

// The defaults of options.
const (
	DefaultReconcilePeriod    = 10 * time.Hour
	DefaultMaxRunnerArtifacts = 20
	DefaultVerbosity          = 2
)

const (
	// The delays after failed runs.
	minBackoff = time.Second
	maxBackoff = 5 * time.Minute
	// selectorGrace is the time that other reconcilers have to finalize a resource that does not match the selector.
	selectorGrace = 30 * time.Second
)

// A playbookOrRole is what a run executes; the playbook has precedence.
type playbookOrRole struct{ playbook, role string }

func (s playbookOrRole) isEmpty() bool { return s.playbook == "" && s.role == "" }

// A Reconciler reconciles the custom resources of one kind by runs of a playbook or a role. Create it with New.
type Reconciler struct {
	gvk                schema.GroupVersionKind
	source             playbookOrRole
	vars               map[string]any
	finalizer          *Finalizer
	selector           labels.Selector
	period             time.Duration
	timeout            time.Duration
	maxArtifacts       int
	maxConcurrent      int
	verbosity          int
	manageStatus       bool
	snakeCase          bool
	markUnsafe         bool
	skipDependents     bool
	watchClusterScoped bool
	annotationChanges  bool
	cacheReads         bool
	blacklist          []schema.GroupVersionKind
	log                logr.Logger
	// warnings are logged by Setup.
	warnings []string

	now   func() time.Time
	grace time.Duration

	// These are set by Setup.
	engine  *engine
	cached  client.Reader // custom resources
	writer  customresource.Writer
	metrics *collectors
	schemas *schemas

	passes passes
}

// New returns a reconciler. WithGroupVersionKind and one of WithPlaybook and WithRole are required. The error names all invalid options.
func New(options ...Option) (*Reconciler, error) {
	r := &Reconciler{
		selector: labels.Everything(), period: DefaultReconcilePeriod, maxArtifacts: DefaultMaxRunnerArtifacts, maxConcurrent: 1,
		verbosity: DefaultVerbosity, manageStatus: true, snakeCase: true, now: time.Now, grace: selectorGrace,
	}
	var errs []error
	for _, option := range options {
		if err := option(r); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 && r.gvk.Empty() {
		errs = append(errs, errors.New("group, version and kind are required; use WithGroupVersionKind"))
	}
	if len(errs) == 0 && r.source.isEmpty() {
		errs = append(errs, errors.New("a playbook or a role is required; use WithPlaybook or WithRole"))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return r, nil
}

// GroupVersionKind returns the kind of the custom resources.
func (r *Reconciler) GroupVersionKind() schema.GroupVersionKind { return r.gvk }

// addController adds the controller of r to a manager.
func (r *Reconciler) addController(mgr manager.Manager) error {
	r.cached = mgr.GetCache()
	r.writer = customresource.Writer{Client: mgr.GetClient(), Reader: mgr.GetAPIReader()}
	if r.log.GetSink() == nil {
		r.log = mgr.GetLogger().WithValues("group", r.gvk.Group, "kind", r.gvk.Kind)
	}
	for _, warning := range r.warnings {
		r.log.Info(warning)
	}
	if !r.markUnsafe {
		r.log.Info("texts of custom resources are evaluated as Jinja templates: users who can write them can run code in the operator; " +
			"set markUnsafe: true in watches.yaml")
	}
	c, err := controller.New(customresource.ControllerName(r.gvk), mgr, controller.Options{
		Reconciler:              r,
		MaxConcurrentReconciles: r.maxConcurrent,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](minBackoff, maxBackoff),
	})
	if err != nil {
		return err
	}
	primary := source.Kind(mgr.GetCache(), customresource.Empty(r.gvk), r.handler(), r.predicate())
	return c.Watch(customresource.Source(r.gvk, primary, r.passes.start))
}

// predicate ignores updates that change neither the spec nor whether the resource is deleted or selected.
func (r *Reconciler) predicate() predicate.TypedPredicate[*unstructured.Unstructured] {
	return predicate.TypedFuncs[*unstructured.Unstructured]{
		UpdateFunc: func(e event.TypedUpdateEvent[*unstructured.Unstructured]) bool {
			before, after := e.ObjectOld, e.ObjectNew
			return before.GetUID() != after.GetUID() || before.GetGeneration() != after.GetGeneration() ||
				(before.GetDeletionTimestamp() == nil) != (after.GetDeletionTimestamp() == nil) ||
				r.matches(before) != r.matches(after) ||
				r.annotationChanges && !maps.Equal(before.GetAnnotations(), after.GetAnnotations())
		},
	}
}

func (r *Reconciler) matches(obj *unstructured.Unstructured) bool {
	return r.selector.Matches(labels.Set(obj.GetLabels()))
}
