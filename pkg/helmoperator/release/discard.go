package release

import (
	"context"
	"errors"

	rcommon "helm.sh/helm/v4/pkg/release/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
)

// discard deletes the objects and the records of an installation that failed, without hooks. It deletes nothing if this pass has not
// created the record: the installation then failed because another one had the name first and owns what exists. Nor
// if the record has changed since, as after a change of the leader: the new one continues.
func (r *Release) discard(ctx context.Context, installed *releasev1.Release) error {
	if !r.hasCreated(installed.Version) {
		return nil
	}
	// From here on, others leave the release to this pass, and after an interruption the next one completes the removal.
	installed.SetStatus(rcommon.StatusUninstalling, installed.Info.Description)
	if err := r.storage(nil).Update(installed); err != nil {
		if isMissing(err) || errors.Is(err, errChanged) {
			return nil
		}
		return r.remediated(ctx, StrategyUninstall, r.errorf("record that the failed installation is removed: %w", err))
	}
	return r.remediated(ctx, StrategyUninstall, r.discardOwned(ctx))
}

// discardOwned deletes the objects that belong to the custom resource and the records that it owns, without hooks.
func (r *Release) discardOwned(ctx context.Context) error {
	revisions, err := r.history()
	if err != nil {
		return err
	}
	revisions = r.owned(revisions)
	if err := r.giveBack(ctx, revisions, nil); err != nil {
		return err
	}
	if _, err := r.deleteObjectsIf(ctx, revisions, nil, r.owner.owns); err != nil {
		return r.errorf("delete the objects of the failed installation: %w", err)
	}
	if err := r.deleteHooks(ctx, revisions); err != nil {
		return r.errorf("delete the hooks of the failed installation: %w", err)
	}
	return r.purge(revisions)
}

// purge deletes the records of revisions, unless they are others by now.
func (r *Release) purge(revisions []*releasev1.Release) error {
	store := r.storage(nil)
	for _, revision := range revisions {
		if _, err := store.Delete(revision.Name, revision.Version); err != nil && !isMissing(err) && !errors.Is(err, errChanged) {
			return r.errorf("delete the record of revision %d: %w", revision.Version, err)
		}
	}
	return nil
}
