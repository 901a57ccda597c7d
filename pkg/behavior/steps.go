package behavior

import (
	"slices"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
)

// refused finds custom resources that couldn't be created.
func (o *Observation) refused() (findings diag.Findings) {
	for _, r := range o.Refused {
		var place diag.Position
		if o.Place != nil {
			place = o.Place(r.Object, kube.RejectedField(r.Err))
		}
		findings = append(findings, diag.Finding{
			Position: place, Severity: diag.Error, Rule: RuleRefused, Object: kube.FullName(r.Object), Problem: "can't be created: " + diag.Escape(r.Err.Error()),
			Fix: "correct it, or pass others with -f",
		})
	}
	return findings
}

// unsettled finds steps after which the operator doesn't come to rest.
func (o *Observation) unsettled() (findings diag.Findings) {
	for _, step := range o.Steps {
		if step.Unsettled == nil {
			continue
		}
		f := diag.Finding{Severity: diag.Error, Rule: RuleUnsettled, Object: step.Name, Problem: step.Unsettled.Error()}
		if i := slices.IndexFunc(o.Logged, func(e LoggedError) bool { return step.contains(e.Time) }); i >= 0 { // perhaps the cause
			f.Related = diag.Findings{{Time: o.Logged[i].Time, Problem: diag.Escape(o.Logged[i].String())}}
		}
		findings = append(findings, f)
	}
	return findings
}

// leftBehind finds objects that are left after their custom resource.
func (o *Observation) leftBehind() (findings diag.Findings) {
	for _, left := range o.Left {
		problem, fix := "is left after the custom resource", "set an owner reference, or delete it in a finalizer"
		if left.GetDeletionTimestamp() != nil {
			problem, fix = "is being deleted, and waits for its finalizers", "remove the finalizer when its work is done"
		}
		if left.Scenario != "" {
			problem += " (scenario " + left.Scenario + ")"
		}
		findings = append(findings, diag.Finding{Severity: diag.Error, Rule: RuleLeft, Object: kube.FullName(left.Object), Problem: problem, Fix: fix})
	}
	return findings
}
