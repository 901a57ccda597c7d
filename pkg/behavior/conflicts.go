package behavior

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
)

// lostConflicts finds objects that the operator didn't write again after a conflict.
func (o *Observation) lostConflicts() (findings diag.Findings) {
	lost, objects := grouped(o.Requests, func(r gateway.Record) string {
		if !r.IsConflict() || IsUpkeep(r.Request) || o.isReturned(r) || !o.isLost(r) {
			return ""
		}
		return r.GroupResource() + " " + r.Namespace + "/" + r.Name
	})
	for _, object := range objects {
		findings = append(findings, evidence(diag.Finding{
			Severity: diag.Warning, Rule: RuleConflict, Object: object,
			Problem: fmt.Sprintf("a write was refused with a conflict, and not done again: %s", diag.Escape(lost[object][0].Message)),
			Fix:     "return the error of the write, so that Reconcile is called again with the current object",
		}, lost[object]...))
	}
	return findings
}

// isReturned reports whether Reconcile has returned the error of a refused write, according to the log of controller-runtime. It is called
// again, if not before the operator is at rest: after many errors, that takes long.
func (o *Observation) isReturned(r gateway.Record) bool {
	step := o.stepAt(r.Start, r.Namespace)
	return slices.ContainsFunc(o.Logged, func(e LoggedError) bool {
		return step != nil && step.contains(e.Time) && !e.Time.Before(r.Start) && e.Message == reconcilerError && strings.Contains(e.Cause, r.Message)
	})
}

// isRetrying reports whether the operator is still to write an object again, after a conflict with a change by hand.
func (o *Observation) isRetrying(object *kube.Object) bool {
	gvk := object.GroupVersionKind()
	resource, _ := meta.UnsafeGuessKindToResource(gvk) // right for the kinds that are changed by hand
	changed := gateway.Request{Group: gvk.Group, Resource: resource.Resource, Namespace: object.GetNamespace(), Name: object.GetName()}
	return slices.ContainsFunc(o.Requests, func(r gateway.Record) bool {
		return r.IsConflict() && r.Object() == changed.Object() && o.isReturned(r) && o.stepAt(r.Start, r.Namespace).ByHand
	})
}

// isLost reports whether the operator doesn't do a refused write again before it is at rest. An operator whose cache is behind its own
// write is refused, too, but has nothing left to do. So any of its writes of a later version than the one that it began with counts.
func (o *Observation) isLost(r gateway.Record) bool {
	step := o.stepAt(r.Start, r.Namespace)
	if step == nil || step.Settled.IsZero() {
		return false
	}
	isAgain := func(other gateway.Record) bool {
		return other.Done() && other.GroupResource() == r.GroupResource() && other.Namespace == r.Namespace && other.Name == r.Name
	}
	base := slices.IndexFunc(o.Changes, func(c stage.Change) bool { return r.BaseVersion != "" && c.After.GetResourceVersion() == r.BaseVersion })
	if base < 0 {
		return !slices.ContainsFunc(o.Requests, func(other gateway.Record) bool {
			return isAgain(other) && !other.Start.Before(r.Start) && other.Start.Before(step.End)
		})
	}
	written := map[string]bool{}
	for _, other := range o.Requests {
		if isAgain(other) {
			written[other.ResourceVersion] = true
		}
	}
	for _, c := range o.Changes[base+1:] {
		if c.After.GetUID() != o.Changes[base].After.GetUID() || !c.Time.Before(step.End) {
			continue
		}
		if c.Deleted || c.After.GetDeletionTimestamp() != nil || written[c.After.GetResourceVersion()] {
			return false
		}
	}
	return true
}
