package release

import (
	"context"
	"errors"
	"fmt"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/kube"
	rcommon "helm.sh/helm/v4/pkg/release/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
)

// UpgradeOptions are the settings of an upgrade.
type UpgradeOptions struct {
	// Force replaces objects instead of patching them. Objects of releases that are applied by the server are not replaced, but
	// take the fields of other managers, which they do anyway.
	Force bool
	// RollbackForce does so when the release is rolled back.
	RollbackForce bool
}

// A RolledBackError is returned if an upgrade failed and the release was rolled back.
type RolledBackError struct {
	// Revision is the revision whose content is deployed again.
	Revision int
	// Err is the error of the upgrade.
	Err error
}

// Error implements error.
func (e *RolledBackError) Error() string {
	return fmt.Sprintf("%v; rolled back to revision %d", e.Err, e.Revision)
}

// Unwrap returns the error of the upgrade.
func (e *RolledBackError) Unwrap() error { return e.Err }

// Upgrade upgrades the release to the chart and the values. If objects cannot be applied or a hook fails, it rolls back to the
// deployed revision and returns a *RolledBackError, or follows another Options.UpgradeStrategy. If the context ends, it does not
// roll back: the next pass upgrades again.
func (r *Release) Upgrade(ctx context.Context, o UpgradeOptions) (*Deployed, error) {
	revisions, err := r.history()
	if err != nil {
		return nil, err
	}
	if err := r.checkChart(lastOf(revisions)); err != nil {
		return nil, err
	}
	last := lastOf(revisions)
	if last == nil {
		return nil, r.errorf("upgrade: there is no release")
	}
	if last.Info.Status.IsPending() {
		if err := r.markFailed(last); err != nil {
			return nil, err
		}
	}
	if err := r.installCRDs(ctx); err != nil {
		return nil, err
	}
	defer r.prune(ctx)
	base := deployedOf(revisions)
	if base == nil {
		base = last
	}
	steps, fingerprints, err := r.prepareRender(ctx, revisions, base, situation{revision: last.Version + 1})
	if err != nil {
		return nil, err
	}
	planned, err := r.planHooks(ctx, revisions, upgradeHooks)
	if err != nil {
		return nil, err
	}
	planned.record(fingerprints)
	configuration, err := r.rewriting(fingerprints, steps...)
	if err != nil {
		return nil, err
	}
	r.runHooks(ctx, configuration, upgradeHooks, revisions, planned)
	if err := r.adopting(configuration.KubeClient.(*client), base); err != nil {
		return nil, err
	}
	upgrade := r.newUpgrade(configuration)
	serverSide := isServerSide(last)
	upgrade.ForceReplace, upgrade.ForceConflicts = o.Force && !serverSide, serverSide
	upgrade.WaitStrategy = kube.HookOnlyStrategy
	result, err := upgrade.RunWithContext(context.WithoutCancel(ctx), r.name, copyChart(r.options.Chart), copyMap(r.options.Values))
	upgraded, _ := result.(*releasev1.Release)
	if err != nil {
		err = r.redact(r.errorf("upgrade: %w", err), append(revisions, upgraded)...)
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, r.remediate(ctx, revisions, o, err)
	}
	if r.recordsTests {
		r.pendingTest = Upgrade
	}
	if err := r.removeStale(ctx, revisions, upgraded); err != nil {
		return nil, err
	}
	deployed, _, err := r.deployedFrom(upgraded)
	return deployed, err
}

// rollback returns to the deployed revision after an upgrade that failed with cause. It returns the error of the upgrade. An
// upgrade that failed before it was recorded has changed nothing.
func (r *Release) rollback(ctx context.Context, before []*releasev1.Release, o UpgradeOptions, cause error) error {
	revisions, err := r.history()
	if err != nil {
		return errors.Join(cause, err)
	}
	failed, target := lastOf(revisions), rollbackTarget(before)
	// A revision that this pass has not created is of others, who had the number first.
	if failed == nil || target == nil || !r.mayUndo(failed.Version) || failed.Info.Status == rcommon.StatusDeployed {
		return cause
	}
	if err := r.checkRollback(ctx, failed, target, o); err != nil {
		return errors.Join(cause, r.remediated(ctx, StrategyRollback, r.redact(r.errorf("roll back to revision %d: %w", target.Version, err), revisions...)))
	}
	if err := r.giveBack(ctx, revisions, target); err != nil {
		return errors.Join(cause, err)
	}
	configuration, err := r.configuration(r.client(), r.fingerprints[target.Version])
	if err != nil {
		return errors.Join(cause, err)
	}
	r.runHooks(ctx, configuration, rollbackHooks, revisions, nil)
	rollback := action.NewRollback(configuration)
	serverSide := isServerSide(target)
	rollback.Version, rollback.Timeout = target.Version, r.factory.hookTimeout
	rollback.ForceReplace, rollback.ForceConflicts = o.RollbackForce && !serverSide, serverSide
	rollback.WaitStrategy = kube.HookOnlyStrategy
	if err := r.remediated(ctx, StrategyRollback, rollback.Run(r.name)); err != nil {
		return errors.Join(cause, r.redact(r.errorf("roll back to revision %d: %w", target.Version, err), revisions...))
	}
	return &RolledBackError{Revision: target.Version, Err: cause}
}
