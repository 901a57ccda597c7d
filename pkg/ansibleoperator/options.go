package ansibleoperator

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/customresource"
)

// MaxVerbosity is the largest number of -v options of a run.
const MaxVerbosity = 7

// An Option configures a Reconciler.
type Option func(*Reconciler) error

// A Finalizer is a run before a deleted custom resource is removed.
type Finalizer struct {
	// Name is the finalizer of the custom resources.
	Name string
	// Playbook and Role are as in WithPlaybook and WithRole. If both are empty, the playbook or role of the reconciler runs.
	Playbook, Role string
	// Vars take precedence over WithVars.
	Vars map[string]any
}

// WithGroupVersionKind sets the kind of the custom resources. It is required.
func WithGroupVersionKind(gvk schema.GroupVersionKind) Option {
	return func(r *Reconciler) error { return r.kind.SetGVK(gvk) }
}

// WithPlaybook sets the playbook by its absolute path. It or WithRole is required. It takes precedence over a role.
func WithPlaybook(path string) Option {
	return func(r *Reconciler) error { r.source.playbook = path; return nil }
}

// WithRole sets the role by the absolute path of its directory, or by its name NAMESPACE.COLLECTION.ROLE in a collection.
func WithRole(role string) Option {
	return func(r *Reconciler) error { r.source.role = role; return nil }
}

// WithVars sets variables of all runs. They take precedence over variables from the custom resource.
func WithVars(vars map[string]any) Option {
	return func(r *Reconciler) (err error) {
		r.vars, err = customresource.JSONValues("vars", vars)
		return err
	}
}

// WithFinalizer adds a finalizer to custom resources, and sets the run after which it is removed.
func WithFinalizer(finalizer Finalizer) Option {
	return func(r *Reconciler) error {
		if finalizer.Name == "" {
			return errors.New("finalizer: name is required")
		}
		vars, err := customresource.JSONValues("vars", finalizer.Vars)
		finalizer.Vars = vars
		r.finalizer = &finalizer
		return err
	}
}

// WithSelector restricts the reconciler to custom resources with matching labels.
func WithSelector(selector metav1.LabelSelector) Option {
	return func(r *Reconciler) error { return r.kind.SetSelector(selector) }
}

// WithOperatorName sets the name with which resources record the operator that finalizes them, also after their labels were changed. It
// must differ between operators of the same kind, and must not contain a colon. Without a name, their selectors tell operators apart.
func WithOperatorName(name string) Option {
	return func(r *Reconciler) error { return r.kind.SetOperator(name) }
}

// WithReconcilePeriod sets the time between two runs for a custom resource without changes; 0 disables them. The default is 10 hours.
// AnnotationReconcilePeriod takes precedence.
func WithReconcilePeriod(period time.Duration) Option {
	return func(r *Reconciler) error { return r.kind.SetPeriod(period) }
}

// WithRunTimeout limits the duration of a run, whose processes are ended then. The default, 0, is no limit.
func WithRunTimeout(timeout time.Duration) Option {
	return func(r *Reconciler) error { return customresource.SetNotNegative(&r.timeout, "run timeout", timeout) }
}

// WithTargetNamespace sets the namespace in ansible_operator_meta and in the kubeconfig of the runs for cluster-scoped custom resources: a
// name, or the path in the custom resource of one, such as spec.targetNamespace. A resource can't change it, see AnnotationTargetNamespace.
// By default, they have none.
func WithTargetNamespace(name, from string) Option {
	return func(r *Reconciler) error { return r.kind.SetTarget(name, from) }
}

// WithMaxRunnerArtifacts sets the number of runs of a custom resource whose artifacts are kept. The default is 20.
// AnnotationMaxRunnerArtifacts takes precedence.
func WithMaxRunnerArtifacts(n int) Option {
	return func(r *Reconciler) error {
		return customresource.SetPositive(&r.maxArtifacts, "maximum of runner artifacts", n)
	}
}

// WithMaxConcurrentReconciles sets the number of custom resources that are reconciled at the same time. The default is 1.
func WithMaxConcurrentReconciles(n int) Option {
	return func(r *Reconciler) error { return r.kind.SetMaxConcurrent(n) }
}

// WithVerbosity sets the number of -v options of runs, 0 to MaxVerbosity. The default is 2. AnnotationVerbosity takes precedence.
func WithVerbosity(n int) Option {
	return func(r *Reconciler) error {
		if n < 0 || n > MaxVerbosity {
			return fmt.Errorf("verbosity %d: must be 0 to %d", n, MaxVerbosity)
		}
		r.verbosity = n
		return nil
	}
}

// WithManageStatus makes the reconciler write conditions. It is the default; without, only runs write the status.
func WithManageStatus(manage bool) Option {
	return func(r *Reconciler) error { r.manageStatus = manage; return nil }
}

// WithSnakeCase converts the keys of specs to snake case, where the schema of the kind allows it. It is the default.
func WithSnakeCase(convert bool) Option {
	return func(r *Reconciler) error { r.snakeCase = convert; return nil }
}

// WithMarkUnsafe keeps strings of custom resources from being evaluated as templates. A spec fails if its keys contain templates or
// would become variables of Ansible itself. The default is false, for compatibility.
func WithMarkUnsafe(mark bool) Option {
	return func(r *Reconciler) error { r.markUnsafe = mark; return nil }
}

// SkipDependentWatches disables the watches of objects that runs create.
func SkipDependentWatches(skip bool) Option {
	return func(r *Reconciler) error { r.skipDependents = skip; return nil }
}

// WithClusterScopedWatches also watches objects that runs create in other namespaces or without a namespace.
func WithClusterScopedWatches(watch bool) Option {
	return func(r *Reconciler) error { r.watchClusterScoped = watch; return nil }
}

// WithAnnotationChanges makes changes of the annotations of a custom resource trigger a run.
func WithAnnotationChanges(watch bool) Option {
	return func(r *Reconciler) error { r.annotationChanges = watch; return nil }
}

// WithCachedReads answers reads of runs from a cache where possible.
func WithCachedReads(cached bool) Option {
	return func(r *Reconciler) error { r.cacheReads = cached; return nil }
}

// WithBlacklist sets the kinds of objects that are neither cached nor watched.
func WithBlacklist(kinds ...schema.GroupVersionKind) Option {
	return func(r *Reconciler) error { r.blacklist = slices.Clone(kinds); return nil }
}

// WithLog sets the logger for messages outside of passes. The default is the manager's.
func WithLog(log logr.Logger) Option {
	return func(r *Reconciler) error { r.kind.Log = log; return nil }
}
