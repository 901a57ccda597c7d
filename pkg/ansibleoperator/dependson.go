package ansibleoperator

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/dependson"
)

// WithDependsOn sets the objects that have to be ready before a run. The run of a finalizer doesn't depend on them. The operator needs
// permissions to get, list and watch the objects.
func WithDependsOn(dependencies ...dependson.Dependency) Option {
	return func(r *Reconciler) error {
		if err := dependson.Check(dependencies); err != nil {
			return fmt.Errorf("depends on: %w", err)
		}
		r.dependsOn = dependencies
		return nil
	}
}

// checkDependencies returns a *dependson.Wait if the run has to wait.
func (p *pass) checkDependencies(ctx context.Context) error {
	if p.dependencies == nil || p.deleted {
		return nil
	}
	// Changes that follow must be able to start another pass, also if this one has no run.
	p.engine.proxy.BeginPass(p.kind.GVK.GroupKind(), client.ObjectKeyFromObject(p.obj))
	return p.dependencies.Check(ctx, p.obj)
}

// dependencyChanged starts a pass of a custom resource that waits.
func (r *Reconciler) dependencyChanged(key types.NamespacedName) { r.passes.requeue(key, 0) }

// waitForDependencies ends a pass whose dependencies are not ready. Their watch, or a change of the resource, starts the next one.
func (p *pass) waitForDependencies(ctx context.Context, waiting *dependson.Wait) (reconcile.Result, error) {
	message := p.secrets.Redact(waiting.Error())
	if waiting.Begins && customresource.ReadCondition(p.obj, ConditionReady)["reason"] != ReasonDependencyNotReady {
		log.FromContext(ctx).Info("waiting for dependencies", "reason", message)
		p.events.Event(p.obj, corev1.EventTypeNormal, ReasonDependencyNotReady, customresource.Truncate(message, customresource.MaxEvent))
	}
	conditions := []condition{ready(false, ReasonDependencyNotReady, message)}
	// No run is in progress. The process that wrote this was killed during one.
	if running := customresource.ReadCondition(p.obj, ConditionRunning); running["status"] == "True" && running["reason"] == ReasonRunning {
		conditions = append(conditions, condition{kind: ConditionRunning, reason: ReasonDependencyNotReady, message: message})
	}
	return reconcile.Result{RequeueAfter: p.settings.period}, p.write(ctx, conditions)
}
