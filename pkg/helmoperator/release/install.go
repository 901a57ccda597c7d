package release

import (
	"context"
	"errors"

	"helm.sh/helm/v4/pkg/kube"
	rcommon "helm.sh/helm/v4/pkg/release/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
)

// Install installs the release, after what remains of an interrupted or failed installation. If it fails, its objects are
// deleted and its records removed, unless Options.InstallStrategy is StrategyNone. If the context ends, they are kept: the next
// pass continues.
func (r *Release) Install(ctx context.Context) (*Deployed, error) {
	revisions, err := r.history()
	if err != nil {
		return nil, err
	}
	if err := r.checkChart(lastOf(revisions)); err != nil {
		return nil, err
	}
	if revisions, err = r.prepareInstall(ctx, revisions); err != nil {
		return nil, err
	}
	if err := r.installCRDs(ctx); err != nil {
		return nil, err
	}
	defer r.prune(ctx)
	// An interrupted installation may have initialized data with its passwords.
	steps, fingerprints, err := r.prepareRender(ctx, revisions, continuable(revisions), situation{revision: 1, install: true})
	if err != nil {
		return nil, err
	}
	planned, err := r.planHooks(ctx, revisions, installHooks)
	if err != nil {
		return nil, err
	}
	planned.record(fingerprints)
	configuration, err := r.rewriting(fingerprints, steps...)
	if err != nil {
		return nil, err
	}
	r.runHooks(ctx, configuration, installHooks, revisions, planned)
	if err := r.adopting(configuration.KubeClient.(*client), nil); err != nil {
		return nil, err
	}
	install := r.newInstall(configuration)
	install.Replace = len(revisions) > 0
	install.WaitStrategy = kube.HookOnlyStrategy
	// A canceled installation would continue in the background. Only the wait for hooks is canceled.
	result, err := install.RunWithContext(context.WithoutCancel(ctx), copyChart(r.options.Chart), copyMap(r.options.Values))
	installed, _ := result.(*releasev1.Release)
	if err != nil {
		err = r.redact(r.errorf("install: %w", err), installed)
		if installed == nil || ctx.Err() != nil || r.options.InstallStrategy == StrategyNone {
			return nil, err
		}
		return nil, errors.Join(err, r.discard(context.WithoutCancel(ctx), installed))
	}
	if r.recordsTests {
		r.pendingTest = Install
	}
	if err := r.removeStale(ctx, revisions, installed); err != nil {
		return nil, err
	}
	deployed, _, err := r.deployedFrom(installed)
	return deployed, err
}

// prepareInstall returns the revisions that the installation replaces. An interrupted installation is continued: its objects
// belong to the release, and are updated. An interrupted uninstallation is completed.
func (r *Release) prepareInstall(ctx context.Context, revisions []*releasev1.Release) ([]*releasev1.Release, error) {
	last := lastOf(revisions)
	if last == nil {
		return nil, nil
	}
	switch last.Info.Status {
	case rcommon.StatusUninstalling:
		if !r.ownsRevision(last.Version) {
			return nil, r.errorf("it is being uninstalled: %w", errBusy)
		}
		return nil, r.discardOwned(ctx)
	case rcommon.StatusUninstalled, rcommon.StatusFailed:
		return revisions, nil
	}
	return revisions, r.markFailed(last)
}

// continuable returns the revision whose objects exist, completely or in part.
func continuable(revisions []*releasev1.Release) *releasev1.Release {
	if last := lastOf(revisions); last != nil && last.Info.Status == rcommon.StatusFailed {
		return last
	}
	return nil
}

// markFailed records that a revision was interrupted, as Helm refuses to continue after a pending one.
func (r *Release) markFailed(revision *releasev1.Release) error {
	if err := r.checkBusy(revision); err != nil {
		return err
	}
	revision.SetStatus(rcommon.StatusFailed, interrupted+revision.Info.Status.String())
	if err := r.storage(nil).Update(revision); err != nil {
		return r.errorf("record that revision %d was interrupted: %w", revision.Version, err)
	}
	return nil
}

// removeStale deletes objects of failed and interrupted revisions that the current one does not contain: Helm compares with the
// deployed revision only. Revisions of others are not touched.
func (r *Release) removeStale(ctx context.Context, revisions []*releasev1.Release, current *releasev1.Release) error {
	var stale []*releasev1.Release
	for _, revision := range r.owned(revisions) {
		if revision.Info.Status == rcommon.StatusFailed && revision.Version < current.Version {
			stale = append(stale, revision)
		}
	}
	if len(stale) == 0 {
		return nil
	}
	if err := r.giveBack(ctx, revisions, current); err != nil {
		return err
	}
	if _, err := r.deleteObjects(ctx, stale, current); err != nil {
		return r.errorf("delete the objects of failed revisions: %w", err)
	}
	return nil
}
