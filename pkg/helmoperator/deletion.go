package helmoperator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// maxNamed is the number of objects that a message names.
const maxNamed = 10

// reconcileDeleted uninstalls the release of a deleted resource, which is then removed. The chart is not needed.
func (r *Reconciler) reconcileDeleted(ctx context.Context, op *operation, obj *unstructured.Unstructured, tracked *trackedResource) (reconcile.Result, error) {
	if !hasFinalizer(obj) {
		r.tracker.drop(client.ObjectKeyFromObject(obj))
		return reconcile.Result{}, nil
	}
	// An invalid annotation must not prevent the deletion.
	options, err := r.readSettings(obj)
	if err != nil {
		log.FromContext(ctx).Error(err, "ignoring invalid annotations of a deleted resource")
	}
	change := newStatusChange()
	change.handled = r.kind.Requested(obj, AnnotationReconcileRequestedAt)
	var remaining []release.Object
	// But nobody can tell whether one is to pause it.
	if _, err = customresource.IsPaused(obj, AnnotationPaused); err == nil {
		remaining, err = r.uninstall(ctx, obj, options, func(w release.Waiting, until func() error) error {
			return r.await(ctx, op, obj, change, w, until)
		})
	}
	if err != nil && ctx.Err() != nil {
		return reconcile.Result{}, err // the next pass continues
	}
	if err != nil {
		var secrets redactor
		secrets.AddValues(obj.Object["spec"])
		_ = r.addValuesFrom(ctx, obj, map[string]any{}, &secrets) // sources that are gone are in no message
		err = secrets.RedactError(err)
		message := err.Error()
		failure := condition{ConditionReleaseFailed, metav1.ConditionTrue, ReasonUninstallError, message}
		r.emitFailure(obj, failure, err)
		change.set(failure)
		change.set(condition{ConditionDeletionBlocked, metav1.ConditionTrue, ReasonUninstallError, message})
		change.set(condition{ConditionReady, metav1.ConditionFalse, ReasonUninstallError, message})
		return reconcile.Result{}, errors.Join(err, r.writeStatus(ctx, obj, change))
	}
	change.set(condition{ConditionDeployed, metav1.ConditionFalse, ReasonUninstallSuccessful, ""})
	change.set(condition{ConditionReady, metav1.ConditionFalse, ReasonUninstalling, ""})
	change.remove(ConditionReleaseFailed, ConditionIrreconcilable, ConditionDeterministic)
	if len(remaining) > 0 {
		change.set(condition{ConditionDeletionBlocked, metav1.ConditionTrue, ReasonWaitingForObjects, waitingMessage(remaining)})
		// The watches report when they are gone. Objects of kinds that are not watched are read with increasing delays.
		r.watchDependents(remaining)
		wait := readyWait(tracked.waits)
		tracked.waits++
		return reconcile.Result{RequeueAfter: wait}, r.writeStatus(ctx, obj, change)
	}
	change.remove(ConditionDeletionBlocked)
	change.release = map[string]any{}
	if slices.ContainsFunc(obj.GetFinalizers(), func(name string) bool { return !isFinalizer(name) }) {
		// Others see the status before they remove their finalizers. It must not prevent the removal of this one.
		if err := r.writeStatus(ctx, obj, change); err != nil {
			log.FromContext(ctx).Error(err, "cannot write the status of a deleted resource")
		}
	}
	if err := r.kind.RemoveFinalizers(ctx, obj, isFinalizer); err != nil {
		return reconcile.Result{}, err
	}
	r.tracker.drop(client.ObjectKeyFromObject(obj))
	return reconcile.Result{}, nil
}

// uninstall removes the release of obj. With uninstall-wait, it returns the objects that still exist.
func (r *Reconciler) uninstall(ctx context.Context, obj *unstructured.Unstructured, s settings, wait func(release.Waiting, func() error) error) ([]release.Object, error) {
	start := r.kind.Now()
	namespace := r.kind.RecordedNamespace(obj)
	if namespace == "" {
		return nil, nil // nothing was installed
	}
	rel, err := r.factory.Release(release.Options{Owner: obj, Namespace: namespace, Chart: r.chart.last(), MaxHistory: r.maxHistory, HookTimeout: s.timeout, Wait: wait})
	if err != nil {
		return nil, err
	}
	removal, err := rel.Uninstall(ctx, release.UninstallOptions{Wait: s.uninstallWait})
	if ctx.Err() == nil && (removal == nil || !removal.Done) {
		r.metrics.observe(r.kind.GVK, operationUninstall, r.kind.Now().Sub(start), err)
	}
	logger := log.FromContext(ctx).WithValues("release", obj.GetName())
	switch {
	case removal == nil:
		return nil, err
	case err != nil:
		logger.Error(err, "uninstalled the release, but a hook failed")
	case !removal.Done:
		logger.Info("uninstalled the release", "kept", names(removal.Kept), "remaining", names(removal.Remaining))
	}
	if !removal.Done && (!s.uninstallWait || len(removal.Remaining) == 0) { // its records are gone, so that this is not repeated
		r.emitUninstalled(obj, removal, err)
	}
	remaining := removal.Remaining
	if removal.Done {
		if remaining, err = r.deleteExternal(ctx, obj); err != nil {
			return nil, err
		}
	}
	if !s.uninstallWait {
		return nil, nil
	}
	return remaining, nil
}

// waitingMessage names the objects that a deletion waits for.
func waitingMessage(remaining []release.Object) string {
	message := "waiting until the objects of the release are gone: " + strings.Join(names(remaining[:min(len(remaining), maxNamed)]), ", ")
	if more := len(remaining) - maxNamed; more > 0 {
		message += fmt.Sprintf(" and %d more", more)
	}
	return message
}
