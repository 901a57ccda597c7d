package ansibleoperator

import (
	"errors"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/dependson"
	"github.com/operon-sdk/operon/pkg/outputs"
	"github.com/operon-sdk/operon/pkg/valuesfrom"
)

// The defaults of options.
const (
	DefaultReconcilePeriod    = 10 * time.Hour
	DefaultMaxRunnerArtifacts = 20
	DefaultVerbosity          = 2
)

// A playbookOrRole is what a run executes; the playbook takes precedence.
type playbookOrRole struct{ playbook, role string }

func (s playbookOrRole) isEmpty() bool { return s.playbook == "" && s.role == "" }

// A Reconciler reconciles the custom resources of one kind by runs of a playbook or a role. Create it with New.
type Reconciler struct {
	kind         customresource.Kind
	source       playbookOrRole
	vars         map[string]any
	dependsOn    []dependson.Dependency
	varsFrom     []valuesfrom.Source
	finalizer    *Finalizer
	timeout      time.Duration
	maxArtifacts int
	verbosity    int
	// retries is negative if there is no limit.
	retries            int
	manageStatus       bool
	snakeCase          bool
	markUnsafe         bool
	skipDependents     bool
	watchClusterScoped bool
	annotationChanges  bool
	cacheReads         bool
	blacklist          []schema.GroupVersionKind
	others             []otherWatch
	outputs            []outputs.Output
	// warnings are logged by Setup.
	warnings []string

	// These are set by Setup.
	engine  *engine
	metrics *collectors
	schemas *schemas
	events  record.EventRecorder
	sources *valuesfrom.Reader
	// dependencies are nil if there are none.
	dependencies *dependson.Checker

	passes passes
	// digest is the version of the operator, if there is a rollout.
	digest string
}

// New returns a reconciler. WithGroupVersionKind and one of WithPlaybook and WithRole are required. The error names all invalid options.
func New(options ...Option) (*Reconciler, error) {
	r := &Reconciler{
		kind: customresource.NewKind(DefaultReconcilePeriod, AnnotationOperator), maxArtifacts: DefaultMaxRunnerArtifacts, verbosity: DefaultVerbosity, retries: -1,
		manageStatus: true, snakeCase: true,
	}
	r.kind.Target.Annotation = AnnotationTargetNamespace
	if err := customresource.Apply(r, &r.kind, options); err != nil {
		return nil, err
	}
	r.kind.NoStatus = !r.manageStatus
	if r.source.isEmpty() {
		return nil, errors.New("a playbook or a role is required; use WithPlaybook or WithRole")
	}
	if r.kind.Rollout != nil && !r.manageStatus {
		return nil, errors.New("rollout: requires WithManageStatus, manageStatus: true in watches.yaml")
	}
	return r, nil
}

// GroupVersionKind returns the kind of the custom resources.
func (r *Reconciler) GroupVersionKind() schema.GroupVersionKind { return r.kind.GVK }

func (r *Reconciler) addController(mgr manager.Manager) error {
	changed := func(before, after *unstructured.Unstructured) bool {
		return r.kind.Matches(before) != r.kind.Matches(after) || areSettingsChanged(before, after) ||
			r.annotationChanges && !r.kind.Operator.AreAnnotationsEqual(before, after)
	}
	// The roles of existing projects allow events of the core group only.
	r.events = mgr.GetEventRecorderFor(strings.ToLower(r.kind.GVK.Kind) + "-controller")
	if err := r.kind.AddController(mgr, r, r.handler(), changed, r.passes.start); err != nil {
		return err
	}
	for _, warning := range r.warnings {
		r.kind.Log.Info(warning)
	}
	if !r.markUnsafe {
		r.kind.Log.Info("texts of custom resources are evaluated as Jinja templates: users who can write them can run code in the operator; " +
			"set markUnsafe: true in watches.yaml")
	}
	return nil
}
