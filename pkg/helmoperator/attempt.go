package helmoperator

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// The limits of the time between two dry runs of an operation that the API server refuses.
const (
	minCheckWait = time.Second
	maxCheckWait = 5 * time.Minute
)

// A heldError is the reason why an operation isn't tried now: the API server refuses it, or it has failed before. It waits for a
// change, or for the next dry run.
type heldError struct {
	*operationError
	attempt attempt
	// until is the time of the next dry run; zero is after a change only.
	until time.Time
	// refusals is the number of consecutive dry runs that were refused.
	refusals int
	// cause is the error of the operation, if this pass has tried it.
	cause error
}

func (e *heldError) Unwrap() []error { return []error{e.operationError, e.cause} }

// try installs or upgrades the release, if the API server accepts it in a dry run and the attempt hasn't failed too often.
func (p *pass) try(ctx context.Context, rel *release.Release, plan release.Plan, remediation Remediation, reason string,
	operate func() (*release.Deployed, error),
) (*release.Deployed, error) {
	current, err := p.newAttempt(plan.Action, p.rendered)
	if err != nil {
		return nil, err
	}
	held := p.tracked.held
	if held != nil && held.attempt == current && p.requested == "" && (held.until.IsZero() || p.kind.Now().Before(held.until)) {
		return nil, held
	}
	known, err := p.knownFailure(ctx, rel, current)
	if err != nil {
		return nil, err
	}
	if err := p.check(ctx, rel, plan); err != nil {
		if ctx.Err() != nil || release.IsTransient(err) {
			return nil, &operationError{reason, err}
		}
		if known == nil {
			p.change.failure = map[string]any{} // it is about something else
		}
		return nil, p.refused(held, current, &operationError{reason, err})
	}
	if known != nil && !remediation.allows(known.failures) && !known.retry {
		if p.requested == "" {
			return nil, p.exhausted(current, known, reason)
		}
		if err := p.retryOnce(ctx, rel, known); err != nil {
			return nil, err
		}
	}
	deployed, err := operate()
	if ctx.Err() == nil {
		p.metrics.observeRetry(p.kind.GVK, known, err)
	}
	if err == nil || ctx.Err() != nil || release.IsTransient(err) {
		return deployed, err
	}
	if crd := (*release.CRDError)(nil); errors.As(err, &crd) { // nothing was changed, as with a dry run
		return nil, p.refused(held, current, &operationError{reason, err})
	}
	return nil, p.failAttempt(ctx, rel, current, known, remediation, &operationError{reason, err})
}

// failAttempt records a failed attempt. It returns the error of the pass: the attempt's, or why it isn't tried again.
func (p *pass) failAttempt(ctx context.Context, rel *release.Release, current attempt, known *failure, remediation Remediation, err *operationError) error {
	failed, recordErr := p.recordFailure(ctx, rel, current, known, err)
	if recordErr != nil {
		log.FromContext(ctx).Error(recordErr, "cannot record the failure; another process will repeat the operation")
	}
	var uninstalled *release.UninstalledError
	if remediation.allows(failed.failures) || errors.As(err, &uninstalled) {
		return err
	}
	held := p.exhausted(current, failed, err.reason)
	held.cause = err
	return held
}

// check asks the API server whether it accepts the operation.
func (p *pass) check(ctx context.Context, rel *release.Release, plan release.Plan) error {
	start := p.kind.Now()
	err := rel.Check(ctx, plan.Action, p.upgradeOptions())
	p.metrics.observe(p.kind.GVK, operationCheck, p.kind.Now().Sub(start), err)
	return err
}

func (p *pass) upgradeOptions() release.UpgradeOptions {
	return release.UpgradeOptions{Force: p.settings.upgradeForce, RollbackForce: p.settings.rollbackForce}
}

// refused returns the error of an operation that the API server refuses. The time to the next dry run doubles up to the period.
func (p *pass) refused(before *heldError, current attempt, cause *operationError) *heldError {
	p.metrics.observeRefusal(p.kind.GVK, current.action)
	held := &heldError{operationError: cause, attempt: current, refusals: 1}
	if before != nil && before.attempt == current {
		held.refusals += before.refusals
	}
	wait := maxCheckWait
	if p.settings.period > 0 {
		wait = min(wait, p.settings.period)
	}
	if shift := held.refusals - 1; shift < 16 {
		wait = min(wait, minCheckWait<<shift)
	}
	held.until = p.kind.Now().Add(wait)
	return held
}

// exhausted returns the error of an operation that has failed too often.
func (p *pass) exhausted(current attempt, failed *failure, reason string) *heldError {
	held := &heldError{attempt: current, operationError: &operationError{
		reason, fmt.Errorf("%s; not tried again until the custom resource, its values or the chart change", failed.message),
	}}
	if p.settings.period > 0 {
		held.until = p.kind.Now().Add(p.settings.period)
	}
	return held
}

// hold ends a pass whose operation isn't tried now. The deployed revision is kept as it is: its objects are repaired.
func (p *pass) hold(ctx context.Context, rel *release.Release, held *heldError) (reconcile.Result, error) {
	if err := p.keepDeployed(ctx, rel); err != nil {
		return reconcile.Result{}, p.fail(ctx, errors.Join(held, err))
	}
	message := p.secrets.Redact(held.Error())
	if before := p.tracked.held; before == nil || before.Error() != held.Error() {
		log.FromContext(ctx).Error(errors.New(message), "the release is not changed")
	}
	failure := condition{ConditionReleaseFailed, metav1.ConditionTrue, held.reason, message}
	p.emitFailure(p.obj, failure, held)
	p.change.set(failure)
	p.change.set(condition{ConditionReady, metav1.ConditionFalse, held.reason, message})
	p.change.remove(ConditionIrreconcilable)
	if err := p.writeStatus(ctx, p.obj, p.change); err != nil {
		return reconcile.Result{}, err
	}
	p.tracked.held = held
	if held.until.IsZero() {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{RequeueAfter: max(held.until.Sub(p.kind.Now()), time.Millisecond)}, nil
}

// keepDeployed repairs the objects of the deployed revision, if it is the last one. After a failure without rollback, nothing is
// known to be right.
func (p *pass) keepDeployed(ctx context.Context, rel *release.Release) error {
	deployed, err := rel.IsDeployed(ctx)
	if err != nil || !deployed {
		return err
	}
	state, err := p.repair(ctx, rel)
	if state != nil {
		p.secrets.addManifest(state.Manifest)
		p.tracked.objects, p.tracked.secrets = state.Objects, &p.secrets
		p.watchDependents(state.Objects)
	}
	return err
}
