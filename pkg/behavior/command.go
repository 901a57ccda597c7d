package behavior

import (
	"context"
	"slices"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
)

// A Command is a program that uses the cluster.
type Command struct {
	// Name is its command line.
	Name string
	Run  func(context.Context) error
}

// command runs the command, leaves the operator alone, and deletes by hand what the operator has made. It records the objects of the
// operator whose custom resource is gone.
func (r *run) command(ctx context.Context, command *Command) error {
	err := r.step(ctx, "run "+command.Name, func() error {
		r.observed.CommandFailure = command.Run(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := r.history.Discover(ctx); err != nil { // the command may have installed CRDs
		return err
	}
	if err := r.rest(ctx); err != nil {
		return err
	}
	if err := r.repairs(ctx); err != nil {
		return err
	}
	r.recordLeft("", r.orphaned())
	return nil
}

// orphaned returns whether an object was made by the operator, and neither an owner nor any custom resource exists.
func (r *run) orphaned() func(*kube.Object) bool {
	objects := r.history.Objects()
	made, existing, custom := r.made(), uids(objects), customKinds(objects)
	used := slices.ContainsFunc(objects, func(o *kube.Object) bool {
		_, found := custom[o.GroupVersionKind().GroupKind()]
		return found
	})
	return func(o *kube.Object) bool {
		if !made[string(o.GetUID())] {
			return false
		}
		return !isOwned(o, existing) && (len(o.GetOwnerReferences()) > 0 || !used)
	}
}

// commandFailed returns a finding if the command has failed.
func (o *Observation) commandFailed() diag.Findings {
	if o.CommandFailure == nil {
		return nil
	}
	return diag.Findings{{Severity: diag.Error, Rule: RuleCommand, Object: "--workload", Problem: "the command fails: " + diag.Escape(o.CommandFailure.Error())}}
}
