package release

import (
	"context"
	"errors"
	"fmt"
	"slices"

	rcommon "helm.sh/helm/v4/pkg/release/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
)

// CheckStrategies returns an error if a strategy is not possible after an installation or upgrade.
func CheckStrategies(install, upgrade Strategy) error {
	if !slices.Contains([]Strategy{"", StrategyUninstall, StrategyNone}, install) {
		return fmt.Errorf("install strategy %q: must be uninstall or none", install)
	}
	if !slices.Contains([]Strategy{"", StrategyRollback, StrategyUninstall, StrategyNone}, upgrade) {
		return fmt.Errorf("upgrade strategy %q: must be rollback, uninstall or none", upgrade)
	}
	return nil
}

// An UninstalledError is returned if an upgrade failed and the release was uninstalled.
type UninstalledError struct {
	// Err is the error of the upgrade.
	Err error
}

// Error implements error.
func (e *UninstalledError) Error() string { return fmt.Sprintf("%v; uninstalled the release", e.Err) }

// Unwrap returns the error of the upgrade.
func (e *UninstalledError) Unwrap() error { return e.Err }

// remediate follows the strategy after an upgrade that failed with cause, and returns the error of the upgrade.
func (r *Release) remediate(ctx context.Context, before []*releasev1.Release, o UpgradeOptions, cause error) error {
	switch r.options.UpgradeStrategy {
	case StrategyNone:
		return cause
	case StrategyUninstall:
		revisions, err := r.history()
		if err != nil {
			return errors.Join(cause, err)
		}
		if last := lastOf(revisions); last == nil || !r.mayUndo(last.Version) {
			return cause // it failed before it was recorded, or another process continues
		}
		_, err = r.Uninstall(ctx, UninstallOptions{})
		if r.remediated(ctx, StrategyUninstall, err) != nil {
			return errors.Join(cause, err)
		}
		return &UninstalledError{cause}
	}
	return r.rollback(ctx, before, o, cause)
}

// remediated reports a remediation that has ended with err, which it returns. The next pass continues an interrupted one.
func (r *Release) remediated(ctx context.Context, strategy Strategy, err error) error {
	if r.options.Remediated != nil && ctx.Err() == nil {
		r.options.Remediated(strategy, err)
	}
	return err
}

// rollbackTarget returns the last revision that was deployed completely, or nil. An upgrade that was interrupted at its end leaves the
// revision before it superseded, and none deployed.
func rollbackTarget(revisions []*releasev1.Release) *releasev1.Release {
	if deployed := deployedOf(revisions); deployed != nil {
		return deployed
	}
	for _, revision := range slices.Backward(revisions) {
		// Helm marks a failed revision as superseded when the rollback from it fails, too.
		if revision.Info.Status == rcommon.StatusSuperseded && !isFailure(revision.Info.Description) {
			return revision
		}
	}
	return nil
}
