package release

import (
	"context"
	"fmt"
	"slices"
	"strings"

	rcommon "helm.sh/helm/v4/pkg/release/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
)

// Plan compares the deployed revision with the chart and the values. It changes nothing in the cluster. It fails if the
// storage does, or the chart: it refuses the values, its templates fail, or it requires another version of Kubernetes.
func (r *Release) Plan(ctx context.Context) (Plan, error) {
	r.records = nil
	settled, err := r.settledState(ctx)
	if err != nil {
		return Plan{}, err
	}
	if settled != nil {
		return r.planSettled(ctx, settled)
	}
	revisions, err := r.history()
	if err != nil {
		return Plan{}, err
	}
	deployed, last := deployedOf(revisions), lastOf(revisions)
	if err := r.checkChart(last); err != nil {
		return Plan{}, err
	}
	if deployed == nil {
		return r.planWithoutDeployed(last), nil
	}
	plan, _, err := r.planFrom(ctx, r.stateOf(revisions, deployed))
	if err == nil && last.Info.Status != rcommon.StatusSuperseded {
		plan.Action, plan.Reason = Upgrade, fmt.Sprintf("revision %d is %s", last.Version, last.Info.Status)
	}
	return plan, err
}

// planSettled plans if the last revision is deployed.
func (r *Release) planSettled(ctx context.Context, s *state) (Plan, error) {
	if err := r.checkChart(s.revision); err != nil {
		return Plan{}, err
	}
	known, current := s.settledPlan(r)
	if known != nil {
		r.planned = s
		return *known, nil
	}
	plan, c, err := r.planFrom(ctx, s)
	if err != nil || plan.Action != None {
		return plan, err
	}
	r.planned = s
	if current != nil && !c.lookedUp {
		s.settle(current, plan)
	}
	return plan, nil
}

func (r *Release) planFrom(ctx context.Context, s *state) (Plan, *comparison, error) {
	c, err := r.compare(ctx, s, r.options.DryRun == "server")
	if err != nil {
		return Plan{}, nil, err
	}
	plan := Plan{Action: None, Revision: s.revision.Version, Nondeterministic: c.random.strings()}
	if reasons := c.reasons(); len(reasons) > 0 {
		plan.Action, plan.Reason = Upgrade, summary(reasons)
	}
	return plan, c, nil
}

func (r *Release) planWithoutDeployed(last *releasev1.Release) Plan {
	switch {
	case last == nil:
		return Plan{Action: Install, Reason: "there is no release"}
	case last.Info.Status == rcommon.StatusSuperseded || last.Info.Status == rcommon.StatusPendingUpgrade ||
		last.Info.Status == rcommon.StatusPendingRollback:
		return Plan{Action: Upgrade, Reason: fmt.Sprintf("revision %d is %s", last.Version, last.Info.Status)}
	}
	return Plan{Action: Install, Reason: fmt.Sprintf("revision %d is %s", last.Version, last.Info.Status)}
}

// maxSummary limits the number of differences in a reason.
const maxSummary = 10

func summary(differences []string) string {
	if more := len(differences) - maxSummary; more > 0 {
		differences = append(slices.Clone(differences[:maxSummary]), fmt.Sprintf("%d more", more))
	}
	return "differs: " + strings.Join(differences, ", ")
}

// checkChart returns an error if the release belongs to a custom resource of another kind with the same name: that one owns the
// records, or they were made from another chart.
func (r *Release) checkChart(last *releasev1.Release) error {
	if r.otherOwner != "" {
		return r.errorf("it belongs to %s; choose another name for the %s", r.otherOwner, r.owner.gvk.Kind)
	}
	if last == nil || r.options.Chart == nil || last.Chart == nil || last.Chart.Metadata == nil {
		return nil
	}
	if stored := last.Chart.Name(); stored != r.options.Chart.Name() {
		return r.errorf("it was made from chart %q, not %q; choose another name for the %s", stored, r.options.Chart.Name(), r.owner.gvk.Kind)
	}
	return nil
}
