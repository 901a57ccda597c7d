package helmoperator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
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
		r.tracker.drop(request.NamespacedName)
		r.kind.Operator.Forget(request.NamespacedName)
		r.metrics.deleteCreated(request.NamespacedName, r.kind.GVK)
		return reconcile.Result{}, nil
	}
	if !r.kind.IsResponsible(obj, isFinalizer) {
		r.tracker.drop(request.NamespacedName)
		return reconcile.Result{}, nil
	}
	r.metrics.setCreated(obj, r.kind.GVK)
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
		return r.reconcileDeleted(ctx, op, obj, tracked)
	}
	p := &pass{Reconciler: r, obj: obj, change: newStatusChange(), tracked: tracked, operation: op}
	return p.run(ctx)
}

// reconcileReadiness updates the condition Ready after an object of the release has changed its status.
func (r *Reconciler) reconcileReadiness(ctx context.Context, obj *unstructured.Unstructured, tracked *trackedResource) (reconcile.Result, error) {
	change := newStatusChange()
	ready := r.readyCondition(ctx, tracked)
	change.set(ready)
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
	if ready.status == metav1.ConditionTrue {
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
	secrets   redactor
	values    map[string]any
	// rendered is the chart, and release the release, once they are known.
	rendered *chartv2.Chart
	release  *release.Release
	// install and upgrade are what happens after failures.
	install, upgrade Remediation
	// drifted is the condition Drifted; nil if no object was left as others have changed it.
	drifted *condition
}

// run reconciles a resource that is not being deleted, and writes its status.
func (p *pass) run(ctx context.Context) (reconcile.Result, error) {
	p.change.set(condition{kind: ConditionInitialized, status: metav1.ConditionTrue})
	deployed, err := p.deploy(ctx)
	if err != nil && ctx.Err() != nil {
		// The next pass, maybe of another process, continues. It writes the status.
		return reconcile.Result{}, err
	}
	var held *heldError
	if errors.As(err, &held) {
		return p.hold(ctx, p.release, held)
	}
	p.tracked.held = nil
	if err != nil {
		return reconcile.Result{}, p.fail(ctx, err)
	}
	if err := p.forgetFailure(ctx, p.release); err != nil {
		return reconcile.Result{}, p.fail(ctx, err)
	}
	p.tracked.objects, p.tracked.secrets = deployed.Objects, &p.secrets
	p.watchDependents(deployed.Objects)
	ready := p.readyCondition(ctx, p.tracked)
	p.change.set(ready)
	p.change.remove(ConditionReleaseFailed, ConditionIrreconcilable)
	if p.change.remove(ConditionDrifted); p.drifted != nil {
		p.change.set(*p.drifted)
	}
	if err := p.writeStatus(ctx, p.obj, p.change); err != nil {
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

// deploy installs, upgrades or repairs the release.
func (p *pass) deploy(ctx context.Context) (*release.Deployed, error) {
	var err error
	if p.settings, err = p.readSettings(p.obj); err != nil {
		return nil, err
	}
	chart, err := p.chart.load()
	if err != nil {
		return nil, err
	}
	if p.values, err = p.valuesOf(ctx, p.obj); err != nil {
		return nil, err
	}
	p.secrets.AddValues(p.values)
	if p.install, p.upgrade, err = p.remediations(p.obj); err != nil {
		return nil, err
	}
	rel, err := p.factory.Release(release.Options{
		Owner: p.obj, Chart: chart, Values: p.values, DryRun: p.dryRun, MaxHistory: p.maxHistory, PostRender: p.postRender,
		Observer: p.dependents, InstallStrategy: p.install.Strategy, UpgradeStrategy: p.upgrade.Strategy, HookTimeout: p.settings.timeout,
		Remediated: p.metrics.remediationsOf(p.kind.GVK), CRDs: p.chart.crdPolicy(p.crds), Drift: p.settings.drift, Ignore: p.ignore,
		Wait: func(w release.Waiting, until func() error) error {
			return p.await(ctx, p.operation, p.obj, p.change, w, until)
		},
	})
	if err != nil {
		return nil, err
	}
	p.rendered, p.release = chart, rel
	plan, err := rel.Plan(ctx)
	if err != nil {
		return nil, err
	}
	// From here, objects may exist that have to be uninstalled.
	if err := p.kind.TakeOver(ctx, p.obj, Finalizer, isFinalizer); err != nil {
		return nil, err
	}
	p.tracked.annotations = p.obj.GetAnnotations()
	if err := p.callHooks(ctx, p.preHooks, plan.Action, nil); err != nil {
		return nil, err
	}
	p.watchCRDs(ctx, rel)
	deployed, err := p.act(ctx, rel, plan)
	p.describeCRDs(rel.CRDReports(), err)
	if err != nil {
		return nil, err
	}
	p.describeDeployed(deployed, plan)
	if err := p.callHooks(ctx, p.postHooks, plan.Action, deployed); err != nil {
		return nil, err
	}
	return deployed, nil
}

// act does what the plan of a release requires.
func (p *pass) act(ctx context.Context, rel *release.Release, plan release.Plan) (*release.Deployed, error) {
	switch plan.Action {
	case release.Install:
		return p.try(ctx, rel, plan, p.install, ReasonInstallError, func() (*release.Deployed, error) {
			return p.operate(ctx, plan, operationInstall, ReasonInstalling, ReasonInstallSuccessful, ReasonInstallError, rel.Install)
		})
	case release.Upgrade:
		return p.try(ctx, rel, plan, p.upgrade, ReasonUpgradeError, func() (*release.Deployed, error) {
			return p.operate(ctx, plan, operationUpgrade, ReasonUpgrading, ReasonUpgradeSuccessful, ReasonUpgradeError, func(ctx context.Context) (*release.Deployed, error) {
				return rel.Upgrade(ctx, p.upgradeOptions())
			})
		})
	}
	return p.repair(ctx, rel)
}

// repair repairs the objects of the deployed revision.
func (p *pass) repair(ctx context.Context, rel *release.Release) (*release.Deployed, error) {
	start := p.kind.Now()
	deployed, repaired, err := rel.Repair(ctx)
	if err != nil || slices.ContainsFunc(repaired, func(object release.Repaired) bool { return !object.Reported }) {
		p.metrics.observe(p.kind.GVK, operationRepair, p.kind.Now().Sub(start), err)
	}
	p.reportDrift(repaired, log.FromContext(ctx))
	return deployed, err
}

// operate installs or upgrades the release. The status shows the progress, as hooks can take minutes.
func (p *pass) operate(ctx context.Context, plan release.Plan, operation, progress, success, failure string, do func(context.Context) (*release.Deployed, error)) (*release.Deployed, error) {
	logger := log.FromContext(ctx).WithValues("release", p.obj.GetName(), "operation", operation)
	logger.Info("changing the release", "reason", p.secrets.Redact(plan.Reason))
	p.change.set(condition{ConditionReady, metav1.ConditionFalse, progress, ""})
	if err := p.writeStatus(ctx, p.obj, p.change); err != nil {
		return nil, err
	}
	start := p.kind.Now()
	deployed, err := do(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	p.metrics.observe(p.kind.GVK, operation, p.kind.Now().Sub(start), err)
	if err != nil {
		p.emitOverrides(p.obj, &p.secrets)
		return nil, &operationError{failure, err}
	}
	p.secrets.addManifest(deployed.Manifest)
	p.emitOverrides(p.obj, &p.secrets)
	p.change.set(condition{ConditionDeployed, metav1.ConditionTrue, success, deployed.Notes})
	logger.Info("changed the release", "revision", deployed.Revision)
	p.emitDeployed(success, plan, deployed)
	return deployed, nil
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

func (p *pass) callHooks(ctx context.Context, hooks []Hook, action release.Action, deployed *release.Deployed) error {
	for _, hook := range hooks {
		err := hook(ctx, HookRequest{Object: p.obj.DeepCopy(), Values: p.values, Action: action, Release: deployed, Client: p.kind.Client})
		if err != nil {
			return fmt.Errorf("hook of the operator: %w", err)
		}
	}
	return nil
}

func names[O fmt.Stringer](objects []O) []string {
	result := make([]string, len(objects))
	for i, object := range objects {
		result[i] = object.String()
	}
	return result
}
