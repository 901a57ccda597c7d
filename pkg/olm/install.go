package olm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/kube"
)

// poll is how often something that takes time is looked at.
const poll = 500 * time.Millisecond

// Event is a step that a person may want to know of.
type Event struct {
	// Message is a line without a newline.
	Message string
	// Waiting tells that the line stands for now and may be replaced by the next.
	Waiting bool
}

// InstallOptions tell Install what to do.
type InstallOptions struct {
	Client *kube.Client
	// Release is what to install, customized already; Namespace is where OLM runs in it.
	Release   *Release
	Namespace string
	// Upgrade permits to replace an older version.
	Upgrade bool
	// Progress is told what happens; nil is for nobody.
	Progress func(Event)
}

// RefusedError tells why nothing was changed.
type RefusedError struct{ Problem string }

func (e *RefusedError) Error() string { return e.Problem }

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
	told string
}

func (in *installation) say(format string, args ...any) {
	in.emit(Event{Message: fmt.Sprintf(format, args...)})
}

// wait says what is waited for, once for as long as it stays the same.
func (in *installation) wait(format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if message == in.told {
		return
	}
	in.told = message
	in.emit(Event{Message: message, Waiting: true})
}

func (in *installation) emit(e Event) {
	if in.Progress != nil {
		in.Progress(e)
	}
}

// permitted refuses to install beside another OLM, over a newer one, and over an older one unless asked to.
func (in *installation) permitted(found *Installation) error {
	if err := found.Elsewhere(); err != nil {
		return &RefusedError{err.Error()}
	}
	version := in.Release.Version
	switch {
	case found.Version == "" || sameVersion(found.Version, version):
		if found.Present {
			in.say("OLM is in the cluster already; what is missing or differs is repaired")
		}
	case Older(version, found.Version):
		return &RefusedError{fmt.Sprintf("OLM %s is installed (says %s), which is newer than %s; OLM cannot go back: remove it with 'olm uninstall' first",
			found.Version, found.Source, version)}
	case !in.Upgrade:
		return &RefusedError{fmt.Sprintf("OLM %s is installed (says %s); --upgrade replaces it with %s and keeps the operators",
			found.Version, found.Source, version)}
	default:
		in.say("upgrading OLM from %s to %s", found.Version, version)
	}
	return nil
}

// check asks the cluster whether it would take every object, as far as it can tell beforehand.
func (in *installation) check(ctx context.Context) error {
	var forbidden, refused []string
	for _, object := range in.Release.All() {
		err := retry(ctx, func() error { return in.Client.Check(ctx, object, object.GetNamespace()) })
		switch {
		case err == nil, kube.IsNotFound(err), kube.IsImmutable(err), kube.IsBeingDeleted(err):
			// Its namespace or its kind comes with the installation, or it is made anew.
		case kube.IsForbidden(err):
			forbidden = append(forbidden, fmt.Sprintf("  %s: %s", kube.FullName(object), brief(err)))
		case isStatus(err):
			refused = append(refused, fmt.Sprintf("  %s: %s", kube.FullName(object), brief(err)))
		default:
			return in.stopped(ctx, fmt.Errorf("asking the cluster about %s: %w", kube.FullName(object), err))
		}
	}
	if len(forbidden) > 0 {
		return &RefusedError{fmt.Sprintf("the cluster refuses this user %d of %d objects, and nothing was changed:\n%s\nOLM needs cluster-admin: ask for it, or give an administrator the output of 'olm install --dry-run -o yaml'",
			len(forbidden)+len(refused), len(in.Release.All()), strings.Join(append(forbidden, refused...), "\n"))}
	}
	if len(refused) > 0 {
		return &RefusedError{fmt.Sprintf("the cluster does not take %d of %d objects, and nothing was changed:\n%s",
			len(refused), len(in.Release.All()), strings.Join(refused, "\n"))}
	}
	return nil
}

// brief is an error cut to what fits a line or two: a refusal may list every right that is missing.
func brief(err error) string {
	const most = 300
	text := strings.Join(strings.Fields(err.Error()), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " …"
	}
	return text
}

func isStatus(err error) bool {
	_, ok := errors.AsType[*kube.StatusError](err)
	return ok
}

// waitDeleted waits for what is just being deleted: objects cannot be made inside or in place of it.
func (in *installation) waitDeleted(ctx context.Context) error {
	for _, object := range in.Release.All() {
		if object.GetKind() != "Namespace" && object.GetKind() != crdKind {
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
			in.wait("waiting for %s, which is being deleted", kube.FullName(object))
			if !pause(ctx) {
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
	case "Namespace", "OLMConfig", "OperatorGroup", catalogKind:
		return nil // where users keep settings of their own
	}
	return []string{"operator-sdk", "kubectl", "kubectl-create", "kubectl-client-side-apply", "kubectl-replace"}
}

// bring applies an object, and again where the cluster was not ready for it.
func (in *installation) bring(ctx context.Context, object *kube.Object) error {
	var change kube.Change
	err := retryIf(ctx, func() (err error) {
		change, err = in.Client.Bring(ctx, object, formerInstallers(object)...)
		return err
	}, func(err error) bool {
		return passes(err) || kube.IsNotFound(err) // of several API servers, not all know the new kinds at once
	})
	if err != nil {
		return in.stopped(ctx, fmt.Errorf("applying %s: %w", kube.FullName(object), err))
	}
	in.say("%s %s", change, kube.FullName(object))
	return nil
}

// stopped adds to an error what to do; errors of a context that has ended say why it has.
func (in *installation) stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = fmt.Errorf("%w (%v)", context.Cause(ctx), err)
	}
	return fmt.Errorf("%w; correct it and install again: what is installed stays, and the rest follows", refusedUser(err))
}

func refusedUser(err error) error {
	if kube.IsForbidden(err) {
		return fmt.Errorf("the cluster refuses this user: %w; OLM needs cluster-admin", err)
	}
	return err
}

// attempts is how often a request is made that fails for reasons that pass.
const attempts = 10

func retry(ctx context.Context, do func() error) error { return retryIf(ctx, do, passes) }

func retryIf(ctx context.Context, do func() error, again func(error) bool) error {
	for attempt := 1; ; attempt++ {
		err := do()
		if err == nil || attempt == attempts || !again(err) || !pause(ctx) {
			return err
		}
	}
}

// passes tells errors that may be gone a moment later: of a server that is starting, overloaded or
// unreachable, and of an object that has changed meanwhile.
func passes(err error) bool {
	status, ok := errors.AsType[*kube.StatusError](err)
	if !ok {
		return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
	}
	return status.Code >= http.StatusInternalServerError || status.Code == http.StatusTooManyRequests || status.Code == http.StatusConflict
}

// pause waits a moment and reports false when ctx has ended.
func pause(ctx context.Context) bool {
	timer := time.NewTimer(poll)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// workloads are the release's objects that OLM works through.
func (in *installation) workloads() []*kube.Object {
	var objects []*kube.Object
	for _, object := range in.Release.Objects {
		if object.GetKind() == "Deployment" || object.GetKind() == csvKind {
			objects = append(objects, object)
		}
	}
	return objects
}

// tellCatalogs tells how catalogs do that are not ready yet. What cannot be read is not told.
func (in *installation) tellCatalogs(ctx context.Context) {
	for _, object := range in.Release.Objects {
		if object.GetKind() != catalogKind {
			continue
		}
		if state, err := inspect(ctx, in.Client, object); err == nil && !state.Ready {
			in.say("%s is not ready yet: %s; OLM works without it, and 'olm status' tells how it does", kube.FullName(object), state.Reason)
		}
	}
}

// waitReady waits until objects are ready, one after the other.
func (in *installation) waitReady(ctx context.Context, objects []*kube.Object) error {
	for i, object := range objects {
		for {
			state, err := inspect(ctx, in.Client, object)
			if err != nil && !passes(err) && ctx.Err() == nil {
				return in.stopped(ctx, err)
			}
			if err == nil && state.Ready {
				if object.GetKind() != crdKind {
					in.say("%s is ready", kube.FullName(object))
				}
				break
			}
			if err == nil {
				in.wait("waiting for %s: %s", kube.FullName(object), state.Reason)
			}
			if !pause(ctx) {
				return in.notReady(ctx, objects[i:])
			}
		}
	}
	return nil
}
