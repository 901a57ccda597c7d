package helmoperator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/dependson"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
	"github.com/operon-sdk/operon/pkg/valuesfrom"
)

// Reconcile makes the release of a custom resource correspond to its spec.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	obj, err := r.kind.Get(ctx, request.NamespacedName)
	if err != nil {
		return reconcile.Result{}, err
	}
	if result, over, err := r.continueOperation(ctx, request.NamespacedName, obj); over {
		return result, err
	}
	if obj == nil {
		r.dependencies.Drop(request.NamespacedName)
		r.tracker.drop(request.NamespacedName)
		r.kind.Forget(request.NamespacedName)
		r.sources.Drop(request.NamespacedName)
		r.metrics.deleteCreated(request.NamespacedName, r.kind.GVK)
		return reconcile.Result{}, nil
	}
	if !r.kind.IsResponsible(obj, isFinalizer) {
		r.dependencies.Drop(request.NamespacedName)
		r.tracker.drop(request.NamespacedName)
		return reconcile.Result{}, nil
	}
	r.metrics.setCreated(obj, r.kind.GVK)
	if paused, err := r.pauseOrResume(ctx, obj); paused || err != nil {
		r.dependencies.Drop(request.NamespacedName)
		return reconcile.Result{}, err
	}
	if obj.GetDeletionTimestamp() == nil {
		if tracked, ok := r.tracker.takeLight(obj, r.kind.Now()); ok {
			return r.reconcileReadiness(ctx, obj, tracked)
		}
	}
	return r.operations.run(ctx, request.NamespacedName, r.targetOf(obj), func(ctx context.Context, op *operation) (reconcile.Result, error) {
		return r.reconcileFull(ctx, op, obj)
	})
}

// reconcileFull installs, upgrades, repairs or uninstalls the release of obj.
func (r *Reconciler) reconcileFull(ctx context.Context, op *operation, obj *unstructured.Unstructured) (result reconcile.Result, err error) {
	tracked := r.tracker.begin(obj)
	defer func() {
		// Changes that others make during the pass are examined in another one. The pass itself makes most changes.
		if r.tracker.finish(tracked, err) && err == nil && (result.RequeueAfter == 0 || result.RequeueAfter > readinessDelay) {
			result.RequeueAfter = readinessDelay
		}
	}()
	if obj.GetDeletionTimestamp() != nil {
		r.dependencies.Drop(client.ObjectKeyFromObject(obj))
		return r.reconcileDeleted(ctx, op, obj, tracked)
	}
	p := &pass{Reconciler: r, obj: obj, change: newStatusChange(), tracked: tracked, operation: op}
	p.requested = r.kind.Requested(obj, AnnotationReconcileRequestedAt)
	p.kind.Rollout.Enter(client.ObjectKeyFromObject(obj))
	defer func() { p.kind.Rollout.End(client.ObjectKeyFromObject(p.obj), p.digest, p.asked) }()
	return p.run(ctx)
}

// reconcileReadiness updates the condition Ready after an object of the release has changed its status.
func (r *Reconciler) reconcileReadiness(ctx context.Context, obj *unstructured.Unstructured, tracked *trackedResource) (reconcile.Result, error) {
	change := newStatusChange()
	ready := r.readyCondition(ctx, tracked)
	if tracked.testPending && ready.status == metav1.ConditionTrue {
		r.tracker.requireFull(client.ObjectKeyFromObject(obj)) // the tests run now
		return reconcile.Result{RequeueAfter: time.Millisecond}, nil
	}
	ready = withOutputs(ready, tracked)
	change.set(ready)
	r.refreshOutdated(obj, change)
	if err := r.writeStatus(ctx, obj, change); err != nil {
		r.tracker.requireFull(client.ObjectKeyFromObject(obj))
		return reconcile.Result{}, err
	}
	return r.nextPass(obj, tracked, ready), nil
}

// nextPass returns when a resource is reconciled again, without changes: earlier if its objects are not ready.
func (r *Reconciler) nextPass(obj *unstructured.Unstructured, tracked *trackedResource, ready condition) reconcile.Result {
	var wait time.Duration
	if !tracked.nextFull.IsZero() {
		wait = max(tracked.nextFull.Sub(r.kind.Now()), time.Millisecond)
	}
	if ready.status == metav1.ConditionTrue || ready.reason == ReasonOutputsFailed { // reading the objects again doesn't help
		tracked.waits = 0
		return reconcile.Result{RequeueAfter: wait}
	}
	soon := readyWait(tracked.waits)
	tracked.waits++
	if wait == 0 || soon < wait {
		r.tracker.requestReadiness(client.ObjectKeyFromObject(obj))
		wait = soon
	}
	return reconcile.Result{RequeueAfter: wait}
}

// A pass reconciles one custom resource once.
type pass struct {
	*Reconciler
	obj       *unstructured.Unstructured
	change    *statusChange
	tracked   *trackedResource
	operation *operation
	settings  settings
	// namespace is the one of the release.
	namespace string
	secrets   redactor
	values    map[string]any
	// rendered is the chart, and release the release, once they are known.
	rendered *chartv2.Chart
	release  *release.Release
	// install and upgrade are what happens after failures.
	install, upgrade Remediation
	operated         bool // this pass has installed or upgraded the release
	// drifted is the condition Drifted; nil if no object was left as others have changed it.
	drifted *condition
	// requested is the new value of AnnotationReconcileRequestedAt, or empty.
	requested string
	// digest is the version of the operator, if there is a rollout. The pass has asked it for its turn, and the release waits for it.
	digest          string
	asked, outdated bool
}

// run reconciles a resource that is not being deleted, and writes its status.
func (p *pass) run(ctx context.Context) (reconcile.Result, error) {
	p.change.set(condition{kind: ConditionInitialized, status: metav1.ConditionTrue})
	deployed, err := p.deploy(ctx)
	var ready condition
	if err == nil {
		p.tracked.objects, p.tracked.secrets = deployed.Objects, &p.secrets
		p.watchDependents(deployed.Objects)
		ready, err = p.test(ctx, deployed.Revision, p.readyCondition(ctx, p.tracked))
	}
	if err != nil && ctx.Err() != nil {
		// The next pass, maybe of another process, continues. It writes the status.
		return reconcile.Result{}, err
	}
	waiting, waits := errors.AsType[*dependson.Wait](err)
	if !release.IsTransient(err) && !waits { // otherwise, the next pass does what was requested
		p.change.handled = p.requested
	}
	var held *heldError
	if errors.As(err, &held) {
		return p.hold(ctx, p.release, held)
	}
	if waits {
		return p.waitForDependencies(ctx, waiting)
	}
	if sources, ok := errors.AsType[*valuesfrom.Error](err); ok {
		return p.waitForSources(ctx, sources)
	}
	p.tracked.held = nil
	if err != nil {
		return reconcile.Result{}, p.fail(ctx, err)
	}
	if p.keepsFailure() {
		p.tracked.blocked, ready = true, readCondition(p.obj, ConditionReady)
	} else {
		p.change.remove(ConditionReleaseFailed)
	}
	if !p.tracked.testPending && !p.keepsFailure() {
		if err := p.forgetFailure(ctx, p.release); err != nil {
			return reconcile.Result{}, p.fail(ctx, err)
		}
	}
	p.describeOutputs(ctx, deployed)
	ready = withOutputs(ready, p.tracked)
	p.change.set(ready)
	p.change.remove(ConditionIrreconcilable)
	if p.change.remove(ConditionDrifted); p.drifted != nil {
		p.change.set(*p.drifted)
	}
	if err := p.writeWithOutputs(ctx, &ready); err != nil {
		return reconcile.Result{}, err
	}
	p.tracked.nextFull = time.Time{}
	if p.settings.period > 0 {
		p.tracked.nextFull = p.kind.Now().Add(p.settings.period)
	}
	return p.nextPass(p.obj, p.tracked, ready), nil
}

// An operationError is the failure of an operation on a release, which has a reason of its own.
type operationError struct {
	reason string
	err    error
}

func (e *operationError) Error() string { return e.err.Error() }
func (e *operationError) Unwrap() error { return e.err }

// fail writes the cause of a failed pass to the status and returns the error without secrets.
func (p *pass) fail(ctx context.Context, err error) error {
	err = p.secrets.RedactError(err)
	failure := condition{ConditionIrreconcilable, metav1.ConditionTrue, ReasonReconcileError, err.Error()}
	var operation *operationError
	if errors.As(err, &operation) {
		failure.kind, failure.reason = ConditionReleaseFailed, operation.reason
		p.change.remove(ConditionIrreconcilable)
	}
	p.emitFailure(p.obj, failure, err)
	p.change.set(failure)
	p.change.set(condition{ConditionReady, metav1.ConditionFalse, failure.reason, failure.message})
	return errors.Join(err, p.writeStatus(ctx, p.obj, p.change))
}

// describeDeployed sets what the status contains of a deployed release.
func (p *pass) describeDeployed(deployed *release.Deployed, plan release.Plan) {
	p.secrets.addManifest(deployed.Manifest)
	reason := ReasonInstallSuccessful
	if deployed.Revision > 1 {
		reason = ReasonUpgradeSuccessful
	}
	if set := p.change.conditions[ConditionDeployed]; set != nil {
		reason = set.reason
	} else if old := readCondition(p.obj, ConditionDeployed); old.status == metav1.ConditionTrue && old.reason != "" {
		reason = old.reason
	}
	p.change.set(condition{ConditionDeployed, metav1.ConditionTrue, reason, p.secrets.Redact(deployed.Notes)})
	p.change.release = map[string]any{"name": deployed.Name}
	if p.obj.GetNamespace() == "" {
		p.change.release["namespace"] = p.namespace
	}
	if external := describeExternal(p.obj, deployed.Objects); len(external) > 0 {
		p.change.release[externalObjects] = external
	}
	if p.manifestLimit > 0 {
		if manifest := redactManifest(deployed.Manifest); len(manifest) <= p.manifestLimit {
			p.change.release["manifest"] = manifest
		}
	}
	if len(plan.Nondeterministic) == 0 {
		p.change.remove(ConditionDeterministic)
		return
	}
	message := "Rendered differently for the same values, ignored until the values change: " + strings.Join(plan.Nondeterministic, ", ")
	if old := readCondition(p.obj, ConditionDeterministic); old.message != customresource.Truncate(message, maxMessage) {
		p.emit(p.obj, corev1.EventTypeWarning, EventNondeterministic, message)
	}
	p.change.set(condition{ConditionDeterministic, metav1.ConditionFalse, ReasonNondeterministicTemplate, message})
}

func names[O fmt.Stringer](objects []O) []string {
	result := make([]string, len(objects))
	for i, object := range objects {
		result[i] = object.String()
	}
	return result
}
