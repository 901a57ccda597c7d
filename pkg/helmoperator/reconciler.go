package helmoperator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/dependson"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
	"github.com/operon-sdk/operon/pkg/outputs"
	"github.com/operon-sdk/operon/pkg/valuesfrom"
)

const defaultMaxHistory = 10

// A Reconciler reconciles the custom resources of one kind: each is a release of a chart. Create it with New.
type Reconciler struct {
	kind              customresource.Kind
	chart             *chartSource
	dependsOn         []dependson.Dependency
	valuesFrom        []valuesfrom.Source
	overrides         map[string]string
	typedOverrides    map[string]any
	suppressOverrides bool
	maxHistory        int
	// installRemediation and upgradeRemediation are what happens after failures.
	installRemediation, upgradeRemediation Remediation
	preHooks                               []Hook
	postHooks                              []Hook
	translator                             ValueTranslator
	postRender                             func([]*unstructured.Unstructured) ([]*unstructured.Unstructured, error)
	skipDependents                         bool
	dryRun                                 string
	namespaces                             []string
	manifestLimit                          int
	timeout                                time.Duration
	crds                                   release.CRDPolicy
	drift                                  release.DriftMode
	ignore                                 release.IgnoreRules
	ownership                              release.OwnershipMode
	outputs                                []outputs.Output
	tests                                  Tests
	events                                 record.EventRecorder

	// These are set by Setup.
	factory      *release.Factory
	dependents   *releaseWatcher
	metrics      *collectors
	sources      *valuesfrom.Reader
	dependencies *dependson.Checker

	tracker    tracker
	watched    watchedKinds
	operations operations
	digests    chartDigest
}

// New returns a reconciler. WithGroupVersionKind and one of WithChart and WithChartPath are required. The error names all invalid options.
func New(options ...Option) (*Reconciler, error) {
	r := &Reconciler{kind: customresource.NewKind(0, AnnotationOperator), maxHistory: defaultMaxHistory, drift: release.DriftEnabled}
	r.kind.Target.Annotation = AnnotationTargetNamespace
	if err := customresource.Apply(r, &r.kind, options); err != nil {
		return nil, err
	}
	if r.chart == nil {
		return nil, errors.New("a chart is required; use WithChart or WithChartPath")
	}
	return r, nil
}

// GroupVersionKind returns the kind of the custom resources.
func (r *Reconciler) GroupVersionKind() schema.GroupVersionKind { return r.kind.GVK }

// SetupWithManager adds the controller of the reconciler to a manager. Use Setup for several reconcilers.
func (r *Reconciler) SetupWithManager(mgr manager.Manager) error { return Setup(mgr, r) }

// Setup adds the controllers of reconcilers to a manager. They share the watches of objects of their releases. They
// watch the namespaces of the first reconciler.
func Setup(mgr manager.Manager, reconcilers ...*Reconciler) error {
	if len(reconcilers) == 0 {
		return nil
	}
	collectors, err := registerCollectors(metrics.Registry)
	if err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	log := reconcilers[0].kind.Log
	if log.GetSink() == nil {
		log = mgr.GetLogger()
	}
	watches, err := newReleaseWatcher(mgr.GetConfig(), mgr.GetHTTPClient(), mgr.GetRESTMapper(), reconcilers[0].namespaces, log.WithName("dependents"))
	if err != nil {
		return fmt.Errorf("creating the watches of releases: %w", err)
	}
	if err := errors.Join(mgr.Add(watches), mgr.Add(watches.crds)); err != nil {
		return err
	}
	factory, err := release.NewFactory(release.Config{REST: mgr.GetConfig(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return err
	}
	sources := valuesfrom.NewWatcher(mgr, reconcilers[0].namespaces, log.WithName("values"))
	dependencies, err := dependson.NewWatcher(mgr, reconcilers[0].namespaces, log.WithName("dependencies"))
	if err != nil {
		return err
	}
	for _, r := range reconcilers {
		if r.sources, err = sources.Add("valuesFrom", r.valuesFrom, r.requestFull); err != nil {
			return err
		}
		if r.dependencies, err = dependencies.Add(r.kind.GVK.GroupKind(), r.dependsOn, r.requestFull); err != nil {
			return err
		}
		r.dependents, r.factory, r.metrics = watches, factory, collectors
		r.kind.Census = collectors.census
		collectors.initialize(r.kind.GVK)
		if err := mgr.Add(&r.operations); err != nil {
			return err
		}
		if err := r.addController(mgr); err != nil {
			return fmt.Errorf("adding the controller of %s: %w", r.kind.GVK.Kind, err)
		}
	}
	return nil
}

func (r *Reconciler) addController(mgr manager.Manager) error {
	if r.events == nil {
		// The roles of existing projects allow events of the core group only.
		r.events = mgr.GetEventRecorderFor(strings.ToLower(r.kind.GVK.Kind) + "-controller")
	}
	changed := func(before, after *unstructured.Unstructured) bool {
		return !r.kind.Operator.AreAnnotationsEqual(before, after) || !maps.Equal(before.GetLabels(), after.GetLabels())
	}
	r.startRollout()
	return r.kind.AddController(mgr, r, &handler.TypedEnqueueRequestForObject[*unstructured.Unstructured]{}, changed, func(ctx context.Context, queue customresource.Queue) {
		r.operations.bind(ctx, queue)
		r.watched.start(ctx, queue)
	})
}
