package ansibleoperator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/proxy"
	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
	"github.com/operon-sdk/operon/pkg/ansibleoperator/variables"
	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/dependson"
	"github.com/operon-sdk/operon/pkg/outputs"
	"github.com/operon-sdk/operon/pkg/redact"
	"github.com/operon-sdk/operon/pkg/valuesfrom"
)

// deletedWait is the time until a pass is repeated whose run was ended because the custom resource was deleted.
const deletedWait = 100 * time.Millisecond

// Reconcile runs the playbook or role for a custom resource.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	obj, err := r.kind.Get(ctx, request.NamespacedName)
	if err != nil {
		return reconcile.Result{}, err
	}
	if obj == nil || obj.GetDeletionTimestamp() != nil {
		r.dependencies.Drop(request.NamespacedName)
	}
	if obj == nil {
		r.passes.drop(request.NamespacedName)
		r.kind.Forget(request.NamespacedName)
		r.sources.Drop(request.NamespacedName)
		r.engine.remove(ctx, r.kind.GVK, request.NamespacedName)
		return reconcile.Result{}, nil
	}
	if obj.GetDeletionTimestamp() != nil && !r.hasFinalizer(obj) {
		return reconcile.Result{}, nil
	}
	if !r.kind.IsResponsible(obj, r.isFinalizer) {
		r.dependencies.Drop(request.NamespacedName)
		r.passes.drop(request.NamespacedName)
		return reconcile.Result{}, nil
	}
	if paused, err := r.pauseOrResume(ctx, obj); paused || err != nil {
		r.dependencies.Drop(request.NamespacedName)
		return reconcile.Result{}, err
	}
	result, err := r.reconcileObject(ctx, obj)
	switch {
	case r.engine.isStopping() || ctx.Err() != nil:
		return reconcile.Result{}, nil // the next process reconciles the resource
	case errors.Is(err, customresource.ErrDeleted):
		return reconcile.Result{RequeueAfter: deletedWait}, nil
	}
	return result, err
}

func (r *Reconciler) isFinalizer(name string) bool {
	return r.finalizer != nil && name == r.finalizer.Name
}

// hasFinalizer reports whether obj waits for a run of the finalizer.
func (r *Reconciler) hasFinalizer(obj *unstructured.Unstructured) bool {
	return slices.ContainsFunc(obj.GetFinalizers(), r.isFinalizer)
}

// reconcileObject adds the finalizer, runs and writes the status.
func (r *Reconciler) reconcileObject(ctx context.Context, obj *unstructured.Unstructured) (reconcile.Result, error) {
	deleted := obj.GetDeletionTimestamp() != nil
	p := &pass{Reconciler: r, obj: obj, generation: obj.GetGeneration(), deleted: deleted}
	r.kind.Rollout.Enter(client.ObjectKeyFromObject(obj))
	defer func() { p.kind.Rollout.End(client.ObjectKeyFromObject(p.obj), p.digest, p.asked) }()
	if r.finalizer != nil && !deleted {
		if err := r.kind.TakeOver(ctx, obj, r.finalizer.Name, r.isFinalizer); err != nil {
			return reconcile.Result{}, err
		}
	}
	p.secrets.AddValues(obj.Object["spec"])
	p.secrets.AddValues(r.vars)
	p.secrets.AddEnviron(r.engine.environ)
	if r.kind.GVK == corev1.SchemeGroupVersion.WithKind("Secret") {
		p.secrets.AddSecret(obj.Object)
	}
	var err error
	if p.settings, err = r.readSettings(obj); err != nil {
		// An invalid annotation must not prevent the deletion, but nobody can tell whether one is to pause it.
		if _, invalid := customresource.IsPaused(obj, AnnotationPaused); !deleted || invalid != nil {
			return reconcile.Result{}, p.fail(ctx, nil, ReasonFailed, err)
		}
		log.FromContext(ctx).Error(err, "ignoring invalid annotations of a deleted resource")
	}
	if runs := readFailedRuns(obj); p.settings.retries >= 0 && runs.generation == p.generation {
		p.failed = runs
	}
	return p.run(ctx)
}

// A pass reconciles one custom resource once.
type pass struct {
	*Reconciler
	obj        *unstructured.Unstructured
	generation int64
	deleted    bool
	settings   settings
	secrets    redact.Redactor
	// namespace is the target namespace, or empty.
	namespace string
	// handled is the new value of AnnotationReconcileRequestedAt, as soon as the run has ended.
	handled string
	// sourceVars are the variables from Secrets and ConfigMaps.
	sourceVars map[string]any
	// rollout is what the pass writes about the rollout, unless the resource waits. asked is set if the pass has asked for its turn.
	rollout *customresource.RolloutState
	asked   bool
	// failed is what the status says about failed runs; the zero value if retries have no limit.
	failed failedRuns
	// outputs are what the next write of the status contains; nil leaves them as they are.
	outputs *outputs.Values
}

// run runs the playbook or role and writes its result.
func (p *pass) run(ctx context.Context) (reconcile.Result, error) {
	if spec, ok := p.obj.Object["spec"]; ok && spec != nil {
		if _, isMap := spec.(map[string]any); !isMap {
			return reconcile.Result{}, p.fail(ctx, nil, ReasonFailed, errors.New("spec must be an object"))
		}
	}
	err := p.checkDependencies(ctx)
	if waiting, ok := errors.AsType[*dependson.Wait](err); ok {
		return p.waitForDependencies(ctx, waiting)
	}
	if err == nil {
		err = p.readSources(ctx)
	}
	if err == nil {
		err = p.readTarget(ctx)
	}
	if sources, ok := errors.AsType[*valuesfrom.Error](err); ok {
		return p.waitForSources(ctx, sources)
	}
	if err != nil {
		return reconcile.Result{}, p.fail(ctx, nil, ReasonFailed, err)
	}
	if waits, err := p.stage(ctx); waits || err != nil {
		return reconcile.Result{RequeueAfter: p.settings.period}, err
	}
	if err := p.write(ctx, runningConditions(p.obj)); err != nil {
		return reconcile.Result{}, err
	}
	start := p.kind.Now()
	result, err := p.execute(ctx)
	if errors.Is(err, customresource.ErrDeleted) || p.engine.isStopping() || ctx.Err() != nil {
		return reconcile.Result{}, err
	}
	p.conclude()
	p.metrics.observe(p.kind.GVK, p.deleted, p.kind.Now().Sub(start), result, err)
	switch {
	case err != nil:
		return reconcile.Result{}, p.fail(ctx, nil, ReasonFailed, err)
	case result.Failed():
		reason := ReasonFailed
		if result.TimedOut() {
			reason = ReasonTimedOut
		}
		return p.failRun(ctx, result, reason)
	case result.RequeueAfter != nil:
		message := fmt.Sprintf("The run requested another one after %s", *result.RequeueAfter)
		return reconcile.Result{RequeueAfter: max(*result.RequeueAfter, time.Millisecond)}, p.write(ctx, []condition{ready(false, ReasonRequeued, message)})
	case p.deleted:
		return reconcile.Result{}, p.kind.RemoveFinalizers(ctx, p.obj, p.isFinalizer)
	}
	p.rollout.InProgress = false
	p.failed = failedRuns{}
	p.passes.succeeded(p.obj)
	return reconcile.Result{RequeueAfter: p.settings.period}, p.finish(ctx, result)
}

// readTarget finds out the target namespace, and records it.
func (p *pass) readTarget(ctx context.Context) (err error) {
	if !p.kind.Target.IsSet() {
		return nil
	}
	if p.deleted {
		if p.namespace = p.kind.RecordedNamespace(p.obj); p.namespace != "" {
			return nil
		}
	}
	if p.namespace, err = p.kind.TargetNamespace(p.obj); err != nil || p.deleted {
		return err
	}
	return p.kind.RecordTarget(ctx, p.obj, p.namespace)
}

// execute runs the playbook or role until its end, or until the resource is deleted.
func (p *pass) execute(ctx context.Context) (*runner.Result, error) {
	schema, err := p.schemas.of(ctx, p.kind.GVK)
	if err != nil {
		return nil, err
	}
	request := runner.Request{
		GVK: p.kind.GVK, Key: client.ObjectKeyFromObject(p.obj), Verbosity: p.settings.verbosity, MaxArtifacts: p.settings.maxArtifacts, Timeout: p.timeout,
		Redact:   p.secrets.Redact,
		Playbook: p.source.playbook, Role: p.source.role,
	}
	input := variables.Input{
		GVK: p.kind.GVK, Object: p.obj.DeepCopy().Object, SourceVars: p.sourceVars, Namespace: p.namespace, Vars: p.vars, SnakeCase: p.snakeCase, MarkUnsafe: p.markUnsafe, Schema: schema,
	}
	if p.deleted {
		input.FinalizerVars = p.Reconciler.finalizer.Vars
		p.secrets.AddValues(input.FinalizerVars)
		if source := (playbookOrRole{p.Reconciler.finalizer.Playbook, p.Reconciler.finalizer.Role}); !source.isEmpty() {
			request.Playbook, request.Role = source.playbook, source.role
		}
	}
	if request.Variables, err = variables.Of(input); err != nil {
		return nil, err
	}
	var release func()
	request.Kubeconfig, release, err = p.engine.proxy.Register(
		proxy.Owner{GroupVersionKind: p.kind.GVK, Namespace: p.obj.GetNamespace(), Name: p.obj.GetName(), UID: p.obj.GetUID()},
		proxy.Settings{
			Namespace: p.namespace, Blacklist: p.blacklist, WatchDependents: !p.skipDependents, WatchClusterScoped: p.watchClusterScoped, CacheReads: p.cacheReads,
			Requeue: p.passes.requeue, Secret: p.secrets.AddSecret,
		})
	if err != nil {
		return nil, err
	}
	defer release()
	running, end := p.passes.begin(ctx, p.obj)
	defer end()
	// A deletion before begin has not ended the run.
	if err := p.checkDeleted(ctx); err != nil {
		return nil, err
	}
	observed := p.metrics.observeRun(p.kind.GVK)
	result, err := p.engine.runner.Run(running, request)
	deleted := err != nil && errors.Is(context.Cause(running), customresource.ErrDeleted)
	observed(result, deleted)
	if deleted {
		return nil, customresource.ErrDeleted
	}
	return result, err
}

// checkDeleted returns customresource.ErrDeleted if the resource was deleted since the pass began.
func (p *pass) checkDeleted(ctx context.Context) error {
	current, err := p.kind.Get(ctx, client.ObjectKeyFromObject(p.obj))
	if err == nil && (current == nil || current.GetUID() != p.obj.GetUID() || !p.deleted && current.GetDeletionTimestamp() != nil) {
		return customresource.ErrDeleted
	}
	return err
}

// conclude makes the next write of the status say that there was the run that AnnotationReconcileRequestedAt requested.
func (p *pass) conclude() { p.handled = p.kind.Requested(p.obj, AnnotationReconcileRequestedAt) }

// fail writes the cause of a failed pass to the status and returns the error without secrets.
func (p *pass) fail(ctx context.Context, result *runner.Result, reason string, err error) error {
	return errors.Join(p.writeFailure(ctx, result, reason, err, ""))
}

// writeFailure writes the cause of a failed pass to the status, after a prefix, and returns it without secrets, and the error of the write.
func (p *pass) writeFailure(ctx context.Context, result *runner.Result, reason string, err error, prefix string) (cause, written error) {
	p.conclude()
	cause = p.secrets.RedactError(err)
	message := strings.TrimSpace(cause.Error())
	if message == "" {
		message = "a task failed without a message; see the log of the run"
	}
	return cause, p.write(ctx, failureConditions(result, reason, prefix+message))
}

// write writes conditions. If the schema of the kind does not accept the status, that is only logged, as the run matters more.
func (p *pass) write(ctx context.Context, conditions []condition) error {
	err := p.writeStatus(ctx, conditions)
	if apierrors.IsInvalid(err) {
		log.FromContext(ctx).Error(err, "the schema of the kind does not permit the status; set manageStatus: false in watches.yaml, or change the schema")
		return nil
	}
	return err
}
