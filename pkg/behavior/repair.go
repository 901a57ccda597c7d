package behavior

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
)

// repairs changes and deletes by hand what the operator has made, and records what it doesn't repair.
func (r *run) repairs(ctx context.Context) error {
	if err := r.changeByHand(ctx); err != nil {
		return err
	}
	return r.deleteByHand(ctx)
}

// repairable returns the objects that the operator has made for their owners.
func (r *run) repairable() []*kube.Object { return repairable(r.history.Objects(), r.made()) }

// repairable returns the objects with an owner among those that an operator has made: not what has served its purpose, such as a Job that is
// complete, which isn't to run again, or an object of such a custom resource.
func repairable(objects []*kube.Object, made map[string]bool) (selected []*kube.Object) {
	done := map[string]bool{}
	for _, o := range objects {
		done[string(o.GetUID())] = isDone(o)
	}
	isOfDone := func(owner metav1.OwnerReference) bool { return done[string(owner.UID)] }
	for _, o := range objects {
		owners := o.GetOwnerReferences()
		switch {
		case !made[string(o.GetUID())], len(owners) == 0, stage.IsHeartbeat(o), isRelease(o):
		case done[string(o.GetUID())], slices.ContainsFunc(owners, isOfDone):
		default:
			selected = append(selected, o)
		}
	}
	return selected
}

// isDone reports whether an object has reached its end, by the conditions that Kubernetes and its conventions have for that.
func isDone(o *kube.Object) bool {
	return slices.ContainsFunc(kube.Conditions(o), func(c kube.Condition) bool {
		return c.Status == "True" && slices.Contains([]string{"Complete", "Completed", "Finished", "Succeeded"}, c.Type)
	})
}

// isSame reports whether two objects have the same kind and name: one can have been made in the place of the other.
func isSame(a, b *kube.Object) bool {
	return a.GroupVersionKind().GroupKind() == b.GroupVersionKind().GroupKind() && a.GetNamespace() == b.GetNamespace() && a.GetName() == b.GetName()
}

// deleteByHand deletes each object that the operator has made, and records those that it doesn't make again.
func (r *run) deleteByHand(ctx context.Context) error {
	for _, object := range r.repairable() {
		err := r.stepByHand(ctx, "delete "+kube.FullName(object)+" by hand", func() error { return r.o.Client.Delete(ctx, object, object.GetNamespace()) })
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(r.history.Objects(), func(o *kube.Object) bool { return isSame(o, object) }) {
			r.observed.NotRepaired = append(r.observed.NotRepaired, object)
		}
	}
	return nil
}

// notRepaired finds objects that the operator doesn't make again.
func (o *Observation) notRepaired() (findings diag.Findings) {
	for _, gone := range o.NotRepaired {
		findings = append(findings, diag.Finding{
			Severity: diag.Warning, Rule: RuleRepair, Object: kube.FullName(gone), Problem: "was deleted by hand, and the operator doesn't make it again",
			Fix: "watch its kind with Owns in SetupWithManager, and create what is missing in each pass",
		})
	}
	return findings
}
