package helmoperator

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operon-sdk/operon/pkg/dependson"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// WithDependsOn sets the objects that have to be ready before a release is installed or upgraded. A release that stays as it is, and the
// deletion of a resource, don't depend on them. The operator needs permissions to get, list and watch the objects.
func WithDependsOn(dependencies ...dependson.Dependency) Option {
	return func(r *Reconciler) error {
		if err := dependson.Check(dependencies); err != nil {
			return fmt.Errorf("depends on: %w", err)
		}
		r.dependsOn = dependencies
		return nil
	}
}

// waitOr returns an error if the pass has to wait for dependencies, or else err. A chart or values that fail may need what the dependencies create.
func (p *pass) waitOr(ctx context.Context, err error) error {
	if err != nil && (ctx.Err() != nil || release.IsTransient(err)) {
		return err
	}
	checked := p.dependencies.Check(ctx, p.obj)
	if _, waits := errors.AsType[*dependson.Wait](checked); waits || err == nil {
		return checked
	}
	return err
}

// waitForDependencies ends a pass that would change the release. Their watch, or a change of the resource, starts the next one. Until then,
// the deployed revision is repaired.
func (p *pass) waitForDependencies(ctx context.Context, waiting *dependson.Wait) (reconcile.Result, error) {
	if err := p.repairDeployed(ctx); err != nil {
		return reconcile.Result{}, p.fail(ctx, errors.Join(waiting, err))
	}
	message := p.secrets.Redact(waiting.Error())
	if waiting.Begins && readCondition(p.obj, ConditionReady).reason != ReasonDependencyNotReady {
		log.FromContext(ctx).Info("waiting for dependencies", "reason", message)
		p.emit(p.obj, corev1.EventTypeNormal, ReasonDependencyNotReady, message)
	}
	p.change.set(condition{ConditionReady, metav1.ConditionFalse, ReasonDependencyNotReady, message})
	p.change.remove(ConditionIrreconcilable)
	p.tracked.blocked = true
	return reconcile.Result{RequeueAfter: p.settings.period}, p.writeStatus(ctx, p.obj, p.change)
}
