package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Options are the options of Deploy.
type Options struct {
	Target
	// Wait waits until the workloads are available and their webhooks can be called.
	Wait bool
	// Prune deletes what was deployed before and is no longer in the manifests.
	Prune bool
	// ForceConflicts takes over fields and objects of other managers.
	ForceConflicts bool
	// DryRun changes nothing.
	DryRun bool
}

// A Result says what Deploy did or, in a dry run, would do.
type Result struct {
	// Namespace is the operator's.
	Namespace string
	// Created, Configured, Unchanged and Pruned are numbers of objects.
	Created, Configured, Unchanged, Pruned int
	// Changes are the changes of a dry run, with one file per object.
	Changes []worktree.Change
}

// A deployment is one call of Deploy.
type deployment struct {
	Options
	*set
	result *Result
	// objects are the objects to apply, in order, with the parent of the set. leftovers are members of the set that the manifests no longer
	// contain.
	objects, leftovers []*kube.Object
}

// establishTime is the maximum time until the API server serves a new definition.
const establishTime = time.Minute

// Deploy applies the objects. It changes nothing if the server would reject one of them.
func Deploy(ctx context.Context, o Options) (*Result, error) {
	d := &deployment{Options: o, result: &Result{Namespace: home(o.Client, o.Objects)}}
	if err := d.prepare(ctx); err != nil {
		return nil, stopped(ctx, err)
	}
	if !d.DryRun {
		if err := d.waitDeleted(ctx); err != nil {
			return nil, stopped(ctx, err)
		}
	}
	steps, err := d.plan(ctx)
	if err != nil {
		return nil, stopped(ctx, err)
	}
	if d.DryRun {
		d.result.Changes, err = d.changes(ctx, steps)
		d.keep()
		return d.result, err
	}
	if err := d.applyAll(ctx, steps); err != nil {
		return nil, stopped(ctx, err)
	}
	if d.Wait {
		if err := d.wait(ctx); err != nil {
			return nil, err
		}
	}
	if err := d.prune(ctx); err != nil {
		return nil, stopped(ctx, err)
	}
	return d.result, nil
}

// stopped adds the cause to the error of a command if ctx has ended.
func stopped(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w (%v); run the command again to continue", cause, err)
	}
	return err
}

// prepare reads the set, and sets the objects and the leftovers.
func (d *deployment) prepare(ctx context.Context) (err error) {
	if d.set, err = readSet(ctx, d.Client, d.Project, d.result.Namespace); err != nil {
		return err
	}
	list := ordered(d.Objects)
	for _, o := range list {
		if err := d.place(ctx, o); err != nil {
			return err
		}
		d.add(o)
	}
	members, err := d.members(ctx)
	if err != nil && (d.Prune || !kube.IsForbidden(err)) {
		return fmt.Errorf("finding what was deployed before: %w", err)
	}
	for _, o := range members {
		if !has(list, o) {
			d.leftovers = append(d.leftovers, o)
		}
	}
	parent := d.parent(slices.Concat(list, d.leftovers))
	if err != nil { // keep what is known
		parent.SetAnnotations(d.live.GetAnnotations())
	}
	first := slices.IndexFunc(list, func(o *kube.Object) bool { return !isKind(o, "Namespace") })
	d.objects = slices.Insert(list, max(first, 0), parent)
	return nil
}

// place sets the namespace of an object without one if its kind is namespaced. An unknown kind is reported later.
func (d *deployment) place(ctx context.Context, o *kube.Object) error {
	if o.GetNamespace() != "" || isKind(o, "Namespace", kube.CRDKind) {
		return nil
	}
	r, err := d.Client.ResourceOf(ctx, o)
	if err == nil && r.Namespaced {
		o.SetNamespace(d.result.Namespace)
	}
	if kube.IsNotFound(err) {
		return nil
	}
	return err
}

// waitDeleted waits for objects that are being deleted, which would be gone soon after they are applied.
func (d *deployment) waitDeleted(ctx context.Context) error {
	for _, o := range d.objects {
		var last *kube.Object
		for {
			live, err := d.Client.Get(ctx, o)
			if kube.IsForbidden(err) { // the plan reports it
				break
			}
			if err != nil && ctx.Err() != nil && last != nil { // the time ended during the request
				return terminating(ctx, d.Client, last)
			}
			if err != nil {
				return err
			}
			if live == nil || live.GetDeletionTimestamp() == nil {
				break
			}
			last = live
			d.Waitf("waiting for %s, which is being deleted", kube.FullName(o))
			if !kube.Pause(ctx) {
				return terminating(ctx, d.Client, live)
			}
		}
	}
	return nil
}

// applyAll applies the objects.
func (d *deployment) applyAll(ctx context.Context, steps []step) error {
	var defined []*kube.Object
	for i, s := range steps {
		if err := d.apply(ctx, s.object); err != nil {
			return d.halfDone(fmt.Errorf("applying %s: %w", kube.FullName(s.object), err), i)
		}
		if s.object.GetKind() == kube.CRDKind {
			defined = append(defined, s.object)
		}
		if i+1 < len(steps) && rank(steps[i+1].object) <= rank(s.object) {
			continue
		}
		for _, crd := range defined { // together, since each takes a moment
			if err := d.Client.WaitEstablished(ctx, crd.GetName(), establishTime); err != nil {
				return d.halfDone(fmt.Errorf("waiting for %s: %w", kube.FullName(crd), err), i+1)
			}
		}
		defined = nil
	}
	return nil
}

// halfDone says how much of a failed command is done.
func (d *deployment) halfDone(err error, done int) error {
	return fmt.Errorf("%w; %d of %s are applied, and deploying again continues", err, done, diag.Count(len(d.objects), "object"))
}

// apply applies one object, and repeats after transient errors.
func (d *deployment) apply(ctx context.Context, o *kube.Object) error {
	change := kube.Unchanged
	err := kube.RetryIf(ctx, func() error {
		before, err := d.Client.Get(ctx, o)
		if err != nil {
			return err
		}
		if before != nil {
			if err := d.Client.Adopt(ctx, before, formerManagers()...); err != nil {
				return err
			}
		}
		after, err := d.Client.ApplyWith(ctx, o, d.namespace, kube.ApplyOptions{Force: d.ForceConflicts})
		switch {
		case err != nil:
			return err
		case before == nil:
			change = kube.Created
		case !equal(before, after):
			change = kube.Updated
		}
		return nil
	}, func(err error) bool {
		// Not all of several API servers serve new kinds at once.
		return isTransient(err) || kube.IsNotFound(err)
	})
	if err != nil {
		return err
	}
	word := string(change)
	switch change {
	case kube.Created:
		d.result.Created++
	case kube.Unchanged:
		d.result.Unchanged++
	default:
		d.result.Configured++
		word = "configured"
	}
	d.Reportf("%s %s", word, kube.FullName(o))
	return nil
}

// prune deletes the leftovers, if that is requested.
func (d *deployment) prune(ctx context.Context) error {
	d.keep()
	if !d.Prune {
		return nil
	}
	kept := slices.Clone(d.objects)
	slices.Reverse(d.leftovers)
	for _, o := range d.leftovers {
		if holdsData(o) {
			kept = append(kept, o)
			continue
		}
		if err := kube.Retry(ctx, func() error { return d.Client.Delete(ctx, o, o.GetNamespace()) }); err != nil {
			return fmt.Errorf("deleting %s: %w", kube.FullName(o), err)
		}
		d.Reportf("pruned %s", kube.FullName(o))
		d.result.Pruned++
	}
	if d.result.Pruned == 0 {
		return nil
	}
	return d.Client.Apply(ctx, d.parent(kept), d.namespace)
}

// keep reports which leftovers are kept.
func (d *deployment) keep() {
	var kept []string
	for _, o := range d.leftovers {
		switch {
		case holdsData(o):
			d.Reportf("kept %s, which is no longer in the manifests: users' data would be lost with it; delete it with 'kubectl delete %s'", kube.FullName(o), deletable(o))
		case !d.Prune:
			kept = append(kept, kube.FullName(o))
		}
	}
	if len(kept) > 0 {
		d.Reportf("kept %s, which an earlier version deployed and the manifests no longer contain; --prune deletes what is left over", diag.Enumerate(kept))
	}
}

// deletable returns the arguments of kubectl delete for an object.
func deletable(o *kube.Object) string {
	args := strings.ToLower(o.GetKind()) + " " + o.GetName()
	if o.GetNamespace() != "" {
		args += " --namespace " + o.GetNamespace()
	}
	return args
}
