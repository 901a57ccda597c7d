package release

import (
	"context"
	"strings"

	releasev1 "helm.sh/helm/v4/pkg/release/v1"
)

// prune deletes the oldest records that exceed Options.MaxHistory, at the end of an operation. The last revision and the one that a
// rollback returns to are kept, however many failed ones follow. Helm's own limit applies before an operation, when it isn't known
// yet what remains. An error is not reported: the next operation prunes again.
func (r *Release) prune(ctx context.Context) {
	limit := r.options.MaxHistory
	if limit <= 0 || ctx.Err() != nil || len(r.recordVersions) < limit { // the last read may lack the new record
		return
	}
	revisions, err := r.history()
	if err != nil {
		return
	}
	excess := len(revisions) - limit
	target, last := rollbackTarget(revisions), lastOf(revisions)
	if r.tests[last.Version] == testPending && len(revisions) > 1 { // it can still fail
		target = rollbackTarget(revisions[:len(revisions)-1])
	}
	var old []*releasev1.Release
	for _, revision := range revisions {
		if len(old) < excess && revision != last && revision != target {
			old = append(old, revision)
		}
	}
	_ = r.purge(old)
}

// isFailure reports whether a description of a revision, as Helm or markFailed writes it, describes a failure.
func isFailure(description string) bool {
	return strings.HasPrefix(description, interrupted) || strings.Contains(description, " failed: ")
}
