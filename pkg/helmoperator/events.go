package helmoperator

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
	"github.com/operon-sdk/operon/pkg/redact"
)

// The reasons of events.
const (
	// EventOverrideValues is emitted, as in operator-sdk, when an override value is used in an installation or upgrade.
	EventOverrideValues = "OverrideValuesInUse"
	// EventNondeterministic is emitted when the condition Deterministic becomes False.
	EventNondeterministic = ReasonNondeterministicTemplate
	// EventCRDsDiffer is emitted when the condition CRDsUpToDate becomes False, or its message changes.
	EventCRDsDiffer = ReasonCRDsDiffer
	// EventRolledBack is emitted when the previous revision is deployed again after a failed upgrade. The other outcomes of operations
	// have the reasons of conditions: InstallSuccessful, UpgradeSuccessful, UninstallSuccessful, InstallError, UpgradeError,
	// UninstallError and ReconcileError. A failure that is repeated by retries is emitted once.
	EventRolledBack = "RollbackSuccessful"
	// EventDriftRepaired is emitted when objects of the release were changed or deleted by others.
	EventDriftRepaired = "DriftRepaired"
	// EventOwnershipTaken is emitted when objects were taken over.
	EventOwnershipTaken = "OwnershipTaken"
	// EventDriftDetected is emitted when the condition Drifted becomes True, or its message changes.
	EventDriftDetected = ReasonDriftDetected
	// EventPaused and EventResumed are emitted when the condition Paused becomes True and is removed.
	EventPaused, EventResumed = customresource.EventPaused, customresource.EventResumed
)

// emitOverrides emits an event for each override value, sorted by key. Secret values are hidden.
func (r *Reconciler) emitOverrides(obj *unstructured.Unstructured, secrets *redactor) {
	for _, key := range slices.Sorted(maps.Keys(r.overrides)) {
		message := fmt.Sprintf("Chart value %q overridden by the operator's watches.yaml", key)
		if !r.suppressOverrides {
			value := redact.Replacement
			if !redact.IsSecretKey(key) {
				value = secrets.Redact(r.overrides[key])
			}
			message = fmt.Sprintf("Chart value %q overridden to %q by the operator's watches.yaml", key, value)
		}
		r.emit(obj, corev1.EventTypeWarning, EventOverrideValues, message)
	}
}

// emitRepaired emits an event that names the objects that were repaired.
func (r *Reconciler) emitRepaired(obj *unstructured.Unstructured, repaired []release.Repaired) {
	message := "Repaired"
	for i, object := range repaired {
		if i > 0 {
			message += ","
		}
		message += " " + object.String()
		if object.Created {
			message += " (was missing)"
		}
	}
	r.emit(obj, corev1.EventTypeNormal, EventDriftRepaired, message)
}

func (r *Reconciler) emit(obj *unstructured.Unstructured, kind, reason, message string) {
	r.events.Event(obj, kind, reason, customresource.Truncate(message, customresource.MaxEvent))
}
