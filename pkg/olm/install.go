package olm

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/kube"
)

// InstallOptions tell Install what to do.
type InstallOptions struct {
	Client *kube.Client
	// Release is what to install, customized already; Namespace is where OLM runs in it.
	Release   *Release
	Namespace string
	// Upgrade permits to replace an older version.
	Upgrade bool

	Reporter
}

// RefusedError reports why an operation was refused before anything was changed.
type RefusedError struct{ Problem string }

func (e *RefusedError) Error() string { return e.Problem }

// Refusef returns a *RefusedError.
func Refusef(format string, args ...any) error {
	return &RefusedError{Problem: fmt.Sprintf(format, args...)}
}

// Install brings a release into the cluster and waits until OLM works, or ctx ends. It does not wait for
// catalogs: their images are large, clusters may not reach them, and OLM works without. What is there already
// is repaired; what is there of an older version is replaced, given Upgrade. An installation that was
// interrupted is completed. Before it changes anything it asks the cluster whether it may.
func Install(ctx context.Context, o InstallOptions) error {
	in := &installation{InstallOptions: o}
	found, err := Find(ctx, o.Client, o.Namespace)
	if err != nil {
		return err
	}
	if err := in.permitted(found); err != nil {
		return err
	}
	if err := in.waitDeleted(ctx); err != nil {
		return err
	}
	if err := in.check(ctx); err != nil {
		return err
	}
	for _, crd := range o.Release.CRDs {
		if err := in.bring(ctx, crd); err != nil {
			return err
		}
	}
	if err := in.waitReady(ctx, o.Release.CRDs); err != nil {
		return err
	}
	for _, object := range o.Release.Objects {
		if err := in.bring(ctx, object); err != nil {
			return err
		}
	}
	if err := in.restart(ctx); err != nil {
		return err
	}
	if err := in.waitReady(ctx, in.workloads()); err != nil {
		return err
	}
	in.tellCatalogs(ctx)
	return nil
}

type installation struct {
	InstallOptions
}

// permitted refuses to install beside another OLM, over a newer one, and over an older one unless asked to.
func (in *installation) permitted(found *Installation) error {
	if err := found.Elsewhere(); err != nil {
		return Refusef("%v", err)
	}
	version := in.Release.Version
	switch {
	case found.Version == "" || sameVersion(found.Version, version):
		if found.Present {
			in.Reportf("OLM is in the cluster already; what is missing or differs is repaired")
		}
	case Older(version, found.Version):
		return Refusef("OLM %s is installed (says %s), which is newer than %s; OLM cannot go back: remove it with 'olm uninstall' first",
			found.Version, found.Source, version)
	case !in.Upgrade:
		return Refusef("OLM %s is installed (says %s); --upgrade replaces it with %s and keeps the operators",
			found.Version, found.Source, version)
	default:
		in.Reportf("upgrading OLM from %s to %s", found.Version, version)
	}
	return nil
}

// check asks the cluster whether it would take every object, as far as it can tell beforehand.
func (in *installation) check(ctx context.Context) error {
	var forbidden, refused []string
	for _, object := range in.Release.All() {
		err := kube.Retry(ctx, func() error { return in.Client.Check(ctx, object, object.GetNamespace()) })
		switch {
		case err == nil, kube.IsNotFound(err), kube.IsImmutable(err), kube.IsBeingDeleted(err):
			// Its namespace or its kind comes with the installation, or it is made anew.
		case kube.IsForbidden(err):
			forbidden = append(forbidden, fmt.Sprintf("  %s: %s", kube.FullName(object), kube.Brief(err)))
		case kube.IsStatus(err):
			refused = append(refused, fmt.Sprintf("  %s: %s", kube.FullName(object), kube.Brief(err)))
		default:
			return in.stopped(ctx, fmt.Errorf("asking the cluster about %s: %w", kube.FullName(object), err))
		}
	}
	if len(forbidden) > 0 {
		return Refusef("the cluster refuses this user %d of %d objects, and nothing was changed:\n%s\nOLM needs cluster-admin: ask for it, or give an administrator the output of 'olm install --dry-run -o yaml'",
			len(forbidden)+len(refused), len(in.Release.All()), strings.Join(append(forbidden, refused...), "\n"))
	}
	if len(refused) > 0 {
		return Refusef("the cluster does not take %d of %d objects, and nothing was changed:\n%s",
			len(refused), len(in.Release.All()), strings.Join(refused, "\n"))
	}
	return nil
}

// waitDeleted waits for what is just being deleted: objects cannot be made inside or in place of it.
func (in *installation) waitDeleted(ctx context.Context) error {
	for _, object := range in.Release.All() {
		if object.GetKind() != "Namespace" && object.GetKind() != kube.CRDKind {
			continue
		}
		var deleted *kube.Object // as it was read last; the time may be up during a read
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
				return fmt.Errorf("%s is being deleted since %s and does not go (%w)%s\n'olm uninstall' removes what holds it; then install again",
					kube.FullName(object), deleted.GetDeletionTimestamp().UTC().Format(time.RFC3339), context.Cause(ctx), remaining(ctx, in.Client, deleted))
			}
		}
	}
	return nil
}

// formerInstallers are the names under which others that install OLM own its fields.
func formerInstallers(o *kube.Object) []string {
	switch o.GetKind() {
	case "Namespace", "OLMConfig", "OperatorGroup", CatalogSourceKind:
		return nil // where users keep settings of their own
	}
	return []string{"operator-sdk", "kubectl", "kubectl-create", "kubectl-client-side-apply", "kubectl-replace"}
}

// bring applies an object, and again where the cluster was not ready for it.
func (in *installation) bring(ctx context.Context, object *kube.Object) error {
	var change kube.Change
	err := kube.RetryIf(ctx, func() (err error) {
		change, err = in.Client.Bring(ctx, object, formerInstallers(object)...)
		return err
	}, func(err error) bool {
		return kube.IsTransient(err) || kube.IsNotFound(err) // of several API servers, not all know the new kinds at once
	})
	if err != nil {
		return in.stopped(ctx, fmt.Errorf("applying %s: %w", kube.FullName(object), err))
	}
	in.Reportf("%s %s", change, kube.FullName(object))
	return nil
}

// stopped adds to an error what to do; errors of a context that has ended say why it has.
func (in *installation) stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = fmt.Errorf("%w (%v)", context.Cause(ctx), err)
	}
	return fmt.Errorf("%w; correct it and install again: what is installed stays, and the rest follows", ExplainForbidden(err))
}

// ExplainForbidden adds to err which permissions are missing, if the cluster refused the user.
func ExplainForbidden(err error) error {
	if kube.IsForbidden(err) {
		return fmt.Errorf("the cluster refuses this user: %w; OLM needs cluster-admin", err)
	}
	return err
}

// workloads are the release's objects that OLM works through.
func (in *installation) workloads() []*kube.Object {
	var objects []*kube.Object
	for _, object := range in.Release.Objects {
		if object.GetKind() == "Deployment" || object.GetKind() == CSVKind {
			objects = append(objects, object)
		}
	}
	return objects
}

// tellCatalogs tells how catalogs do that are not ready yet. What cannot be read is not told.
func (in *installation) tellCatalogs(ctx context.Context) {
	for _, object := range in.Release.Objects {
		if object.GetKind() != CatalogSourceKind {
			continue
		}
		if state, err := inspect(ctx, in.Client, object); err == nil && !state.Ready {
			in.Reportf("%s is not ready yet: %s; OLM works without it, and 'olm status' tells how it does", kube.FullName(object), state.Reason)
		}
	}
}

// waitReady waits until objects are ready, one after the other.
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
