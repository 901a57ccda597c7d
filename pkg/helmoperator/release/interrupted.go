package release

import (
	"context"
	"slices"
	"strings"

	helmrelease "helm.sh/helm/v4/pkg/release"
	rcommon "helm.sh/helm/v4/pkg/release/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage/driver"
)

// interrupted begins the description of a revision that was not completed because the process or its context ended. Such a revision
// has not failed: what it has begun is continued.
const interrupted = "Interrupted while "

// isInterrupted reports whether the work on a revision has neither succeeded nor failed.
func isInterrupted(revision *releasev1.Release) bool {
	status := revision.Info.Status
	return status.IsPending() || status == rcommon.StatusUninstalling ||
		status == rcommon.StatusFailed && strings.HasPrefix(revision.Info.Description, interrupted)
}

// lastCompleted returns the version of the last revision whose work has succeeded or failed, or 0. All later ones are interrupted.
func lastCompleted(revisions []*releasev1.Release) int {
	for _, revision := range slices.Backward(revisions) {
		if !isInterrupted(revision) {
			return revision.Version
		}
	}
	return 0
}

// An interruptible driver records that a revision was interrupted, where Helm's actions record after the end of the context that it has
// failed. The function begin is called with a revision and its hooks before it is recorded for the first time.
type interruptible struct {
	driver.Driver
	ctx   context.Context //nolint:containedctx // Helm's drivers have no contexts.
	begin func(*releasev1.Release) error

	version int
	pending rcommon.Status
}

// Create implements driver.Driver.
func (d *interruptible) Create(key string, release helmrelease.Releaser) error {
	if revision, ok := release.(*releasev1.Release); ok {
		d.version, d.pending = revision.Version, revision.Info.Status
		if err := d.begin(revision); err != nil {
			return err
		}
	}
	return d.Driver.Create(key, release)
}

// Update implements driver.Driver.
func (d *interruptible) Update(key string, release helmrelease.Releaser) error {
	revision, ok := release.(*releasev1.Release)
	if ok && d.ctx.Err() != nil && revision.Version == d.version && revision.Info.Status == rcommon.StatusFailed {
		revision.Info.Description = interrupted + d.pending.String()
	}
	return d.Driver.Update(key, release)
}
