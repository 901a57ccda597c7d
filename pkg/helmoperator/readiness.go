package helmoperator

import (
	"context"
	"fmt"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// The limits of the time between two reads of objects that are not ready. Most changes are reported by watches before.
const (
	minReadyWait = 2 * time.Second
	maxReadyWait = 30 * time.Second
)

// An objectKey identifies an object of a release.
type objectKey struct {
	kind            schema.GroupVersionKind
	namespace, name string
}

// readiness is the result of reading one object.
type readiness struct {
	resourceVersion string
	reason, message string
}

// isStateless reports whether objects of a kind are always ready, so that they need not be read.
func isStateless(kind schema.GroupKind) bool {
	switch kind.Group {
	case "":
		switch kind.Kind {
		case "ConfigMap", "Secret", "ServiceAccount", "Endpoints", "LimitRange", "ResourceQuota":
			return true
		}
	case "rbac.authorization.k8s.io", "admissionregistration.k8s.io", "scheduling.k8s.io", "storage.k8s.io", "discovery.k8s.io":
		return true
	case "networking.k8s.io":
		return kind.Kind == "NetworkPolicy" || kind.Kind == "IngressClass"
	}
	return false
}

// readyCondition returns the condition Ready of a resource: whether all objects of its release are ready.
func (r *Reconciler) readyCondition(ctx context.Context, tracked *trackedResource) condition {
	// The most severe state comes first.
	severity := []string{ReasonFailed, ReasonObjectMissing, ReasonUnknown, ReasonInProgress}
	messages := map[string][]string{}
	count := 0
	current := map[objectKey]readiness{}
	for _, object := range tracked.objects {
		// The server names objects without a name.
		if object.Name == "" || isStateless(object.GroupKind()) {
			continue
		}
		key := objectKey{object.GroupVersionKind, object.Namespace, object.Name}
		result := r.objectReadiness(ctx, object, tracked.ready[key])
		if result.reason == ReasonObjectsReady {
			current[key] = result
			continue
		}
		count++
		messages[result.reason] = append(messages[result.reason], fmt.Sprintf("%s %s: %s", object.Kind, object.Name, result.message))
	}
	tracked.ready = current
	for _, reason := range severity {
		if len(messages[reason]) == 0 {
			continue
		}
		message := messages[reason][0]
		switch {
		case count == 2:
			message += " (and 1 more object is not ready)"
		case count > 2:
			message += fmt.Sprintf(" (and %d more objects are not ready)", count-1)
		}
		return condition{ConditionReady, metav1.ConditionFalse, reason, tracked.secrets.Redact(message)}
	}
	return condition{ConditionReady, metav1.ConditionTrue, ReasonObjectsReady, ""}
}

// objectReadiness returns whether an object is ready. It is not read if it has not changed since it was.
func (r *Reconciler) objectReadiness(ctx context.Context, object release.Object, last readiness) readiness {
	if last.resourceVersion != "" {
		seen, _ := r.dependents.Observe(object.GroupVersionKind, types.NamespacedName{Namespace: object.Namespace, Name: object.Name})
		if seen != nil && seen.ResourceVersion == last.resourceVersion {
			return last
		}
	}
	live := customresource.Empty(object.GroupVersionKind)
	err := r.kind.Reader.Get(ctx, client.ObjectKey{Namespace: object.Namespace, Name: object.Name}, live)
	switch {
	case apierrors.IsNotFound(err):
		return readiness{reason: ReasonObjectMissing, message: "not found"}
	case err != nil:
		return readiness{reason: ReasonUnknown, message: "cannot be read: " + err.Error()}
	}
	// kstatus regards a failed pod as complete.
	if phase, _, _ := unstructured.NestedString(live.Object, "status", "phase"); phase == "Failed" && live.GetKind() == "Pod" {
		return readiness{reason: ReasonFailed, message: "the pod has failed"}
	}
	result, err := status.Compute(live)
	if err != nil {
		return readiness{reason: ReasonUnknown, message: err.Error()}
	}
	switch result.Status {
	case status.CurrentStatus:
		return readiness{live.GetResourceVersion(), ReasonObjectsReady, ""}
	case status.FailedStatus:
		return readiness{reason: ReasonFailed, message: result.Message}
	case status.TerminatingStatus:
		return readiness{reason: ReasonInProgress, message: "is being deleted"}
	default:
		return readiness{reason: ReasonInProgress, message: result.Message}
	}
}

// readyWait returns the time until objects that are not ready are read again, after a number of waits.
func readyWait(waits int) time.Duration {
	wait := minReadyWait
	for range waits {
		if wait *= 2; wait >= maxReadyWait {
			return maxReadyWait
		}
	}
	return wait
}
