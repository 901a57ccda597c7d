package dependson

import (
	"context"
	"fmt"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/customresource"
)

// maxReason limits the length of what others wrote in a message.
const maxReason = 100

// A state is the readiness of an object, with its version that was read; empty if it didn't exist.
type state struct {
	problem
	version string
}

// versionUnknown is the version in a state that no watch confirms.
const versionUnknown = "unknown"

// read reads the state of an object from the API server.
func (w *Watcher) read(ctx context.Context, o object) (state, error) {
	live := customresource.Empty(o.GroupVersionKind)
	switch err := w.live.Get(ctx, o.NamespacedName, live); {
	case meta.IsNoMatchError(err):
		text := fmt.Sprintf("does not exist: the kind %s is not installed", o.GroupVersionKind.GroupKind())
		return state{problem{text, true}, versionUnknown}, nil
	case apierrors.IsNotFound(err):
		return state{problem: problem{"does not exist", true}}, nil
	case err != nil:
		return state{}, fmt.Errorf("reading %s: %w", o, err)
	}
	text, err := w.problemOf(live)
	if err != nil {
		return state{}, fmt.Errorf("reading %s: %w", o, err)
	}
	return state{problem{text: text}, live.GetResourceVersion()}, nil
}

// problemOf returns why an object isn't ready, or "". Of what others wrote, it contains only reasons: the message of a condition can be
// about another namespace, and would make resources that wait for each other change without end.
func (w *Watcher) problemOf(live *unstructured.Unstructured) (string, error) {
	if live.GetDeletionTimestamp() != nil {
		return "is being deleted", nil
	}
	ready := customresource.ReadCondition(live, "Ready")
	if ready == nil {
		return w.computed(live)
	}
	observed, found := ready["observedGeneration"]
	if !found {
		observed, found, _ = unstructured.NestedFieldNoCopy(live.Object, "status", "observedGeneration")
	}
	switch {
	case found && observed != any(live.GetGeneration()):
		return "is not ready: its condition Ready is about an older generation", nil
	case ready["status"] == "True":
		return "", nil
	}
	reason, _ := ready["reason"].(string)
	return notReady(reason), nil
}

// notReady returns the problem of an object that isn't ready for a reason.
func notReady(reason string) string {
	if reason == "" {
		return "is not ready"
	}
	return "is not ready: " + customresource.Truncate(reason, maxReason)
}

// computed returns the problem of an object without the condition Ready.
func (w *Watcher) computed(live *unstructured.Unstructured) (string, error) {
	if content, _ := live.Object["status"].(map[string]any); len(content) == 0 {
		// kstatus regards it as ready, but its controller may not have seen it yet.
		if has, err := w.hasStatus(live); has || err != nil {
			return notReady("it has no status yet"), err
		}
	}
	result, err := status.Compute(live)
	switch {
	case err != nil:
		return notReady("its status is not valid"), nil
	case result.Status != status.CurrentStatus:
		return notReady(string(result.Status)), nil
	case live.GetKind() == "Pod" && live.GroupVersionKind().Group == "": // a failed one is complete
		if phase, _, _ := unstructured.NestedString(live.Object, "status", "phase"); phase == "Failed" {
			return notReady(phase), nil
		}
	}
	return "", nil
}

// hasStatus reports whether the kind of an object has the subresource status.
func (w *Watcher) hasStatus(live *unstructured.Unstructured) (bool, error) {
	gvk := live.GroupVersionKind()
	list, err := w.discovery.ServerResourcesForGroupVersion(gvk.GroupVersion().String())
	if err != nil {
		return false, err
	}
	mapping, err := w.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return false, err
	}
	for _, r := range list.APIResources {
		if r.Name == mapping.Resource.Resource+"/status" {
			return true, nil
		}
	}
	return false, nil
}
