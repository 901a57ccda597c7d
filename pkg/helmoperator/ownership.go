package helmoperator

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// WithTakeOwnership sets what happens if objects of the chart exist that don't belong to the release: release.OwnershipDisabled, the
// default, refuses the installation or upgrade, release.OwnershipReport also describes what would be taken over, and
// release.OwnershipEnabled takes it over. There is no annotation for it, as the author of a custom resource would use the permissions of
// the operator on objects of others.
func WithTakeOwnership(mode release.OwnershipMode) Option {
	return func(r *Reconciler) error {
		switch r.ownership = mode; mode {
		case "", release.OwnershipDisabled, release.OwnershipReport, release.OwnershipEnabled:
			return nil
		}
		return fmt.Errorf("takeOwnership %q: must be enabled, report or disabled", mode)
	}
}

// describeOwnership sets the condition about objects that don't belong to the release, which are the cause of err, and emits an event
// about those that were taken over.
func (p *pass) describeOwnership(taken []release.Takeover, err error) {
	var conflict *release.OwnershipError
	switch {
	case errors.As(err, &conflict):
		reason := ReasonOwnedByOthers
		if conflict.Mode == release.OwnershipReport {
			reason = ReasonWouldTakeOwnership
		}
		message := p.secrets.Redact(release.DescribeTakeovers(conflict.Takeovers))
		p.change.set(condition{ConditionOwnershipConflict, metav1.ConditionTrue, reason, message})
	case err == nil:
		p.change.remove(ConditionOwnershipConflict)
		if len(taken) > 0 {
			p.emit(p.obj, corev1.EventTypeNormal, EventOwnershipTaken, "Took over "+p.secrets.Redact(release.DescribeTakeovers(taken)))
		}
	}
}
