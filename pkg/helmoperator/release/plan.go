package release

import (
	"context"
	"fmt"
	"slices"
	"strings"

	rcommon "helm.sh/helm/v4/pkg/release/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
)

// Plan compares the deployed revision with the chart and the values. It changes nothing in the cluster. Errors are those of the
// storage and of the chart: values that it refuses, templates that fail, a required version of Kubernetes.
func (r *Release) Plan(ctx context.Context) (Plan, error) {
	revisions, err := r.history()
	if err != nil {
		return Plan{}, err
	}
	if err := r.checkOwner(revisions); err != nil {
		return Plan{}, err
	}
	deployed, last := deployedOf(revisions), lastOf(revisions)
	if deployed == nil {
		return r.planWithoutDeployed(last), nil
	}
	c, err := r.compare(ctx, revisions, deployed, r.options.DryRun == "server")
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Action: None, Revision: deployed.Version, Nondeterministic: c.random.strings()}
	switch {
	case last.Version != deployed.Version && last.Info.Status != rcommon.StatusSuperseded:
		plan.Action, plan.Reason = Upgrade, fmt.Sprintf("revision %d is %s", last.Version, last.Info.Status)
	case len(c.changed) > 0:
		plan.Action, plan.Reason = Upgrade, summary(c.changed.strings())
	}
	return plan, nil
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

// checkOwner returns an error if the stored release is that of another custom resource: kinds of the same name share the name of
// the release.
func (r *Release) checkOwner(revisions []*releasev1.Release) error {
	last := lastOf(revisions)
	if last == nil || r.options.Chart == nil || last.Chart == nil || last.Chart.Metadata == nil {
		return nil
	}
	if stored := last.Chart.Name(); stored != r.options.Chart.Name() {
		return r.errorf("it was made from chart %q, not %q; choose another name for the %s", stored, r.options.Chart.Name(), r.owner.gvk.Kind)
	}
	return nil
}
