package release

import (
	"context"
	"errors"
	"fmt"
	"time"

	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/resource"
)

// A Waiting describes what an installation, upgrade or uninstallation waits for.
type Waiting struct {
	Object
	// Hook is the event of the hook that the object belongs to, such as pre-upgrade. It is empty for a CRD, which has to be
	// served.
	Hook releasev1.HookEvent
	// Deletion reports that the object of an earlier run of the hook has to be gone, not that the hook has to end.
	Deletion bool
}

// String returns the description for messages, such as "the pre-upgrade hook Job/migrate to finish".
func (w Waiting) String() string {
	switch {
	case w.Hook == "":
		return fmt.Sprintf("%s to be established", w.Object)
	case w.Deletion:
		return fmt.Sprintf("%s of an earlier %s hook to be deleted", w.Object, w.Hook)
	}
	return fmt.Sprintf("the %s hook %s to finish", w.Hook, w.Object)
}

// The limits of the time between two reads of an object that cannot be watched.
const (
	minReadDelay = time.Second
	maxReadDelay = 30 * time.Second
)

// A progress is how far an object is that is waited for: it is called with its current state, or with nil if it does not exist.
type progress func(live *unstructured.Unstructured) (done bool, err error)

// await waits until an object has progressed. It calls Options.Wait unless the object has progressed already. A timeout of 0 means no
// limit.
func (r *Release) await(ctx context.Context, w Waiting, info *resource.Info, timeout time.Duration, check progress) error {
	live, err := r.getIfExists(ctx, info)
	if err != nil {
		return err
	}
	if done, err := check(live); done || err != nil {
		return err
	}
	until := func() error {
		if timeout == 0 {
			return r.follow(ctx, info, check)
		}
		limited, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		err := r.follow(limited, info, check)
		if limited.Err() != nil && ctx.Err() == nil {
			return fmt.Errorf("timed out waiting for %s", w)
		}
		return err
	}
	if r.options.Wait == nil {
		return until()
	}
	return r.options.Wait(w, until)
}

// follow reads and watches an object until it has progressed. Errors of the API server other than a lack of permissions are retried,
// as a hook may run for longer than the server.
func (r *Release) follow(ctx context.Context, info *resource.Info, check progress) error {
	delay := minReadDelay
	for {
		live, err := r.getIfExists(ctx, info)
		if err == nil {
			if done, err := check(live); done || err != nil {
				return err
			}
			var changed bool
			if changed, err = r.watch(ctx, info, live, check); errors.Is(err, errProgressed) {
				return nil
			}
			if changed {
				delay = minReadDelay
			}
		}
		var failure *progressError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &failure):
			return failure.err
		case live == nil && apierrors.IsForbidden(err):
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(delay):
			delay = min(2*delay, maxReadDelay)
		}
	}
}

// errProgressed ends a watch.
var errProgressed = errors.New("progressed")

// A progressError is the error of a progress function.
type progressError struct{ err error }

func (e *progressError) Error() string { return e.err.Error() }

// watch watches an object since the state live, which may be nil, until it has progressed (errProgressed) or the watch ends.
func (r *Release) watch(ctx context.Context, info *resource.Info, live *unstructured.Unstructured, check progress) (changed bool, err error) {
	get := request(restClient(info).Get(), info, false).Param("watch", "true").
		Param("fieldSelector", "metadata.name="+info.Name)
	if live != nil {
		get = get.Param("resourceVersion", live.GetResourceVersion())
	}
	w, err := get.Watch(ctx)
	if err != nil {
		return false, err
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		object, ok := event.Object.(*unstructured.Unstructured)
		if event.Type == watch.Error || !ok {
			return changed, nil // too old, for example
		}
		changed = true
		done, err := check(object)
		if event.Type == watch.Deleted && !done {
			// Its last state was not enough, but an error about it says more than one about a missing object.
			if err == nil {
				done, err = check(nil)
			}
		}
		switch {
		case err != nil:
			return true, &progressError{err}
		case done:
			return true, errProgressed
		}
	}
	return changed, nil
}

// getIfExists returns an object, or nil.
func (r *Release) getIfExists(ctx context.Context, info *resource.Info) (*unstructured.Unstructured, error) {
	live, err := r.get(ctx, info)
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return live, nil
}

// describe returns the public description of an object.
func describeObject(info *resource.Info) Object {
	o := Object{GroupVersionKind: info.Mapping.GroupVersionKind, Namespace: info.Namespace, Name: info.Name, Namespaced: info.Namespaced()}
	if object, ok := info.Object.(metav1.Object); ok {
		o.Keep = isKept(object)
	}
	return o
}

// conditionMessage returns the message of a condition of an object, if the condition has a status.
func conditionMessage(live *unstructured.Unstructured, kind, status string) (message string, ok bool) {
	conditions, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
	for _, item := range conditions {
		if condition, isMap := item.(map[string]any); isMap && condition["type"] == kind && condition["status"] == status {
			message, _ = condition["message"].(string)
			return message, true
		}
	}
	return "", false
}
