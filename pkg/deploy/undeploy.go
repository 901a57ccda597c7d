package deploy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// UndeployOptions are the options of Undeploy.
type UndeployOptions struct {
	Target
	// DeleteCRDs deletes the definitions with all custom resources. Confirm is then called with what would be lost, unless that is nothing;
	// an error of it ends Undeploy before anything is deleted. It may be nil.
	DeleteCRDs bool
	Confirm    func([]Loss) error
	// Wait waits until the objects are gone. Custom resources are always waited for.
	Wait bool
	// DryRun deletes nothing.
	DryRun bool
}

// An undeployment is one call of Undeploy.
type undeployment struct {
	UndeployOptions
	*set
	// objects exist and are deleted, in this order. They contain neither namespaces nor definitions.
	objects []*kube.Object
	// crds and namespaces exist, too.
	crds, namespaces []*kube.Object
	deleted          []string
}

// Undeploy deletes the objects and everything else that was deployed from the project, and returns the names of the deleted objects. It
// isn't an error if nothing exists.
func Undeploy(ctx context.Context, o UndeployOptions) (deleted []string, err error) {
	u := &undeployment{UndeployOptions: o}
	err = stopped(ctx, u.run(ctx))
	return u.deleted, err
}

func (u *undeployment) run(ctx context.Context) error {
	if err := u.find(ctx); err != nil {
		if kube.IsForbidden(err) {
			return fmt.Errorf("the cluster rejects this user, and nothing was deleted: %w; ask an administrator of the cluster for the missing rights", err)
		}
		return err
	}
	if err := u.check(ctx); err != nil {
		return err
	}
	losses, err := u.losses(ctx)
	if err != nil {
		return err
	}
	if u.DeleteCRDs {
		if anyLost(losses) && u.Confirm != nil && !u.DryRun {
			if err := u.Confirm(losses); err != nil {
				return err
			}
		}
		if err := u.removeResources(ctx, losses); err != nil {
			return err
		}
		u.objects = append(u.objects, u.crds...)
	} else {
		u.reportKept(losses)
	}
	if u.live != nil {
		u.objects = append(u.objects, u.live)
	}
	if err := u.remove(ctx, u.Wait, u.objects...); err != nil {
		return err
	}
	return u.removeNamespaces(ctx)
}

// find reads which objects exist.
func (u *undeployment) find(ctx context.Context) (err error) {
	if u.set, err = readSet(ctx, u.Client, u.Project, home(u.Client, u.Objects)); err != nil {
		return err
	}
	wanted := ordered(u.Objects)
	members, err := u.members(ctx)
	if err != nil && !kube.IsForbidden(err) {
		return err
	}
	for _, o := range members { // definitions and volumes that are no longer in the manifests are kept
		if !has(wanted, o) && !holdsData(o) {
			wanted = append(wanted, o)
		}
	}
	slices.SortStableFunc(wanted, func(a, b *kube.Object) int { return rank(b) - rank(a) })
	for _, o := range wanted {
		if o.GetNamespace() == "" {
			r, err := u.Client.ResourceOf(ctx, o)
			if err != nil && !kube.IsNotFound(err) {
				return err
			}
			if r.Namespaced {
				o.SetNamespace(u.namespace)
			}
		}
		live, err := u.Client.Get(ctx, o)
		if err != nil {
			return err
		}
		if live == nil {
			continue
		}
		id := live.GetLabels()[partOfLabel]
		switch {
		case id != "" && id != u.id():
			u.Reportf("kept %s, which was deployed from another project or to another namespace (%s)", kube.FullName(live), id)
		case isKind(live, "PersistentVolumeClaim", "PersistentVolume"):
			u.Reportf("kept %s, which holds data; delete it with 'kubectl delete %s'", kube.FullName(live), deletable(live))
		case isKind(live, "Namespace"):
			u.namespaces = append(u.namespaces, live)
		case isKind(live, kube.CRDKind) && installer(live) != "":
			u.Reportf("kept %s, which %s has installed, too", kube.FullName(live), installer(live))
		case isKind(live, kube.CRDKind):
			u.crds = append(u.crds, live)
		default:
			u.objects = append(u.objects, live)
		}
	}
	return nil
}

// installer returns who else has installed a definition, or "".
func installer(crd *kube.Object) string {
	for _, label := range slices.Sorted(maps.Keys(crd.GetLabels())) {
		if strings.HasPrefix(label, olm.Group+"/") {
			return "OLM"
		}
	}
	if release := crd.GetAnnotations()["meta.helm.sh/release-name"]; release != "" {
		return "the Helm release " + release
	}
	return ""
}

// check verifies with a dry run that this user may delete the objects.
func (u *undeployment) check(ctx context.Context) error {
	all := slices.Concat(u.objects, u.namespaces)
	if u.DeleteCRDs {
		all = append(all, u.crds...)
	}
	var refused diag.Findings
	for _, o := range all {
		err := kube.Retry(ctx, func() error { return u.Client.CheckDelete(ctx, o, o.GetNamespace()) })
		switch {
		case err == nil, kube.IsConflict(err): // a namespace that is being deleted
		case kube.IsStatus(err):
			refused = append(refused, diag.Finding{Object: kube.FullName(o), Problem: kube.Brief(err), Listed: kube.FullName(o) + ": " + kube.Brief(err)})
		default:
			return fmt.Errorf("dry run of deleting %s: %w", kube.FullName(o), err)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	return diag.List(fmt.Sprintf("%d of %s can't be deleted, and nothing was deleted:", len(refused), diag.Count(len(all), "object")), refused,
		"ask an administrator of the cluster for the missing rights, or fix what refuses the deletion")
}

// remove deletes objects and reports them. If wait is set, it returns when they are gone.
func (u *undeployment) remove(ctx context.Context, wait bool, objects ...*kube.Object) error {
	for _, o := range objects {
		if u.DryRun {
			u.deleted = append(u.deleted, kube.FullName(o))
			continue
		}
		if err := kube.Retry(ctx, func() error { return u.Client.Delete(ctx, o, o.GetNamespace()) }); err != nil {
			return fmt.Errorf("deleting %s: %w", kube.FullName(o), err)
		}
		if !wait {
			u.report(o)
		}
	}
	if !wait || u.DryRun {
		return nil
	}
	for _, o := range objects {
		if err := u.awaitGone(ctx, o); err != nil {
			return err
		}
		u.report(o)
	}
	return nil
}

func (u *undeployment) report(o *kube.Object) {
	u.Reportf("deleted %s", kube.FullName(o))
	u.deleted = append(u.deleted, kube.FullName(o))
}

// awaitGone waits until an object is gone, or replaced by another of the same name.
func (u *undeployment) awaitGone(ctx context.Context, o *kube.Object) error {
	var held []string
	for {
		live, err := u.Client.Get(ctx, o)
		switch {
		case err != nil && !kube.IsTransient(err) && ctx.Err() == nil:
			return fmt.Errorf("waiting for the deletion of %s: %w", kube.FullName(o), err)
		case err != nil: // the next read may succeed
		case live == nil || live.GetUID() != o.GetUID():
			return nil
		default:
			held = live.GetFinalizers()
		}
		text := ""
		if len(held) > 0 {
			text = ", which has the finalizers " + strings.Join(held, ", ")
		}
		u.Waitf("waiting for the deletion of %s%s", kube.FullName(o), text)
		if !kube.Pause(ctx) {
			return terminating(ctx, u.Client, o)
		}
	}
}
