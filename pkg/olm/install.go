package olm

import (
	"context"
	"fmt"
	"time"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
)

// InstallOptions are the options of Install.
type InstallOptions struct {
	Client *kube.Client
	// Release is installed as it is, after Customize. Namespace is OLM's namespace in it.
	Release   *Release
	Namespace string
	// Upgrade allows an older version to be replaced.
	Upgrade bool

	Reporter
}

// Refused returns an object that the cluster does not accept, for a list of them.
func Refused(object *kube.Object, err error) diag.Finding {
	name, problem := kube.FullName(object), kube.Brief(err)
	return diag.Finding{Object: name, Problem: "is refused: " + problem, Listed: name + ": " + problem}
}

// Install applies a release and waits until OLM is ready or ctx ends. It repairs existing objects, completes an interrupted
// installation, and replaces an older version if Upgrade is set. A dry run verifies first that the cluster accepts all objects.
// It does not wait for catalogs: their images are large, and OLM works without them.
func Install(ctx context.Context, o InstallOptions) error {
	in := &installation{InstallOptions: o}
	found, err := Find(ctx, o.Client, o.Namespace)
	if err != nil {
		return err
	}
	if err := in.checkVersion(found); err != nil {
		return err
	}
	if err := in.waitDeleted(ctx); err != nil {
		return err
	}
	if err := in.check(ctx); err != nil {
		return err
	}
	for _, crd := range o.Release.CRDs {
		if err := in.apply(ctx, crd); err != nil {
			return err
		}
	}
	if err := in.waitReady(ctx, o.Release.CRDs); err != nil {
		return err
	}
	for _, object := range o.Release.Objects {
		if err := in.apply(ctx, object); err != nil {
			return err
		}
	}
	if err := in.restart(ctx); err != nil {
		return err
	}
	if err := in.waitReady(ctx, in.workloads()); err != nil {
		return err
	}
	in.reportCatalogs(ctx)
	return nil
}

type installation struct {
	InstallOptions
}

// checkVersion returns an error if OLM exists in another namespace, or in a version that must not be replaced.
func (in *installation) checkVersion(found *Installation) error {
	if err := found.CheckNamespace(); err != nil {
		return err
	}
	version := in.Release.Version
	switch {
	case found.Version == "" || sameVersion(found.Version, version):
		if found.Present {
			in.Reportf("OLM is already installed; repairing what is missing or differs")
		}
	case Older(version, found.Version):
		return fmt.Errorf("OLM %s is installed according to %s, which is newer than %s; OLM cannot be downgraded: remove it with 'operon olm uninstall' first",
			found.Version, found.Source, version)
	case !in.Upgrade:
		return fmt.Errorf("OLM %s is installed according to %s; --upgrade replaces it with %s and keeps the operators",
			found.Version, found.Source, version)
	default:
		in.Reportf("upgrading OLM from %s to %s", found.Version, version)
	}
	return nil
}

// check verifies with a dry run that the cluster accepts all objects.
func (in *installation) check(ctx context.Context) error {
	var forbidden, refused diag.Findings
	for _, object := range in.Release.All() {
		err := kube.Retry(ctx, func() error { return in.Client.Check(ctx, object, object.GetNamespace()) })
		switch {
		case err == nil, kube.IsNotFound(err), kube.IsImmutable(err), kube.IsBeingDeleted(err):
			// Its namespace or kind is part of the release, or it will be recreated.
		case kube.IsForbidden(err):
			forbidden = append(forbidden, Refused(object, err))
		case kube.IsStatus(err):
			refused = append(refused, Refused(object, err))
		default:
			return in.stopped(ctx, fmt.Errorf("dry run of %s: %w", kube.FullName(object), err))
		}
	}
	if len(forbidden) > 0 {
		heading := fmt.Sprintf("the cluster forbids this user %d of %d objects, and nothing was changed:", len(forbidden)+len(refused), len(in.Release.All()))
		return diag.List(heading, append(forbidden, refused...),
			"OLM needs cluster-admin: request it, or give an administrator the output of 'operon olm install --dry-run -o yaml'")
	}
	if len(refused) > 0 {
		return diag.List(fmt.Sprintf("the cluster rejects %d of %d objects, and nothing was changed:", len(refused), len(in.Release.All())), refused)
	}
	return nil
}

// waitDeleted waits for namespaces and definitions that are being deleted, which would reject new objects.
func (in *installation) waitDeleted(ctx context.Context) error {
	for _, object := range in.Release.All() {
		if object.GetKind() != "Namespace" && object.GetKind() != kube.CRDKind {
			continue
		}
		var deleted *kube.Object // as last read; ctx may end during a read
		for {
			live, err := in.Client.Get(ctx, object)
			if err != nil && (deleted == nil || ctx.Err() == nil) {
				return in.stopped(ctx, err)
			}
			if err == nil {
				if live == nil || live.GetDeletionTimestamp() == nil {
					break
				}
				deleted = live
			}
			in.Waitf("waiting for %s, which is being deleted", kube.FullName(object))
			if !kube.Pause(ctx) {
				return diag.Explain(diag.Finding{
					Object: kube.FullName(object),
					Problem: fmt.Sprintf("has been terminating since %s and still exists (%v)",
						deleted.GetDeletionTimestamp().UTC().Format(time.RFC3339), context.Cause(ctx)),
					Related: Remaining(ctx, in.Client, deleted), Err: context.Cause(ctx),
				}, "'operon olm uninstall' removes what delays it; then install again")
			}
		}
	}
	return nil
}

// formerManagers returns the field managers of other tools that install OLM.
func formerManagers(o *kube.Object) []string {
	switch o.GetKind() {
	case "Namespace", "OLMConfig", "OperatorGroup", CatalogSourceKind:
		return nil // users edit these
	}
	return []string{"operator-sdk", "kubectl", "kubectl-create", "kubectl-client-side-apply", "kubectl-replace"}
}

// apply applies an object, and repeats after transient errors.
func (in *installation) apply(ctx context.Context, object *kube.Object) error {
	var change kube.Change
	err := kube.RetryIf(ctx, func() (err error) {
		change, err = in.Client.ApplyOrRecreate(ctx, object, formerManagers(object)...)
		return err
	}, func(err error) bool {
		return kube.IsTransient(err) || kube.IsNotFound(err) // not all of several API servers serve new kinds at once
	})
	if err != nil {
		return in.stopped(ctx, fmt.Errorf("applying %s: %w", kube.FullName(object), err))
	}
	in.Reportf("%s %s", change, kube.FullName(object))
	return nil
}

// stopped adds the remedy to an error, and the cause if ctx has ended.
func (in *installation) stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = fmt.Errorf("%w (%v)", context.Cause(ctx), err)
	}
	return fmt.Errorf("%w; fix the cause and install again to continue", ExplainForbidden(err))
}

// ExplainForbidden adds to err that permissions are missing, if the cluster rejected the user.
func ExplainForbidden(err error) error {
	if kube.IsForbidden(err) {
		return fmt.Errorf("the cluster rejects this user: %w; OLM needs cluster-admin", err)
	}
	return err
}

// workloads returns the objects of the release that run OLM.
func (in *installation) workloads() []*kube.Object {
	var objects []*kube.Object
	for _, object := range in.Release.Objects {
		if object.GetKind() == "Deployment" || object.GetKind() == CSVKind {
			objects = append(objects, object)
		}
	}
	return objects
}

// reportCatalogs reports the catalogs that are not ready yet, as far as they can be read.
func (in *installation) reportCatalogs(ctx context.Context) {
	for _, object := range in.Release.Objects {
		if object.GetKind() != CatalogSourceKind {
			continue
		}
		if state, err := inspect(ctx, in.Client, object); err == nil && !state.Ready {
			in.Reportf("%s is not ready yet: %s; OLM works without it, and 'operon olm status' shows its state", kube.FullName(object), state.Reason)
		}
	}
}

// waitReady waits until all objects are ready.
func (in *installation) waitReady(ctx context.Context, objects []*kube.Object) error {
	for i, object := range objects {
		for {
			state, err := inspect(ctx, in.Client, object)
			if err != nil && !kube.IsTransient(err) && ctx.Err() == nil {
				return in.stopped(ctx, err)
			}
			if err == nil && state.Ready {
				if object.GetKind() != kube.CRDKind {
					in.Reportf("%s is ready", kube.FullName(object))
				}
				break
			}
			if err == nil {
				in.Waitf("waiting for %s: %s", kube.FullName(object), state.Reason)
			}
			if !kube.Pause(ctx) {
				return in.notReady(ctx, objects[i:])
			}
		}
	}
	return nil
}
