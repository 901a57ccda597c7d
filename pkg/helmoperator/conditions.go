package helmoperator

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/outputs"
)

// The types of conditions of a custom resource. The first four exist in operator-sdk's helm-operator, too.
const (
	// ConditionInitialized is True as soon as the resource is reconciled for the first time.
	ConditionInitialized = "Initialized"
	// ConditionDeployed is True when a release is deployed, with the notes of its chart as the message, and False after the
	// release is uninstalled. It does not depend on pods.
	ConditionDeployed = "Deployed"
	// ConditionReleaseFailed is True while an installation, upgrade or removal fails. Otherwise, it is absent.
	ConditionReleaseFailed = "ReleaseFailed"
	// ConditionIrreconcilable is True while anything else fails: the chart cannot be rendered, the values are missing or invalid, drift
	// cannot be repaired. Otherwise, it is absent.
	ConditionIrreconcilable = "Irreconcilable"
	// ConditionReady is True when all objects of the current release are ready. Its message names the first object that is not.
	ConditionReady = "Ready"
	// ConditionDeterministic is False while templates of the chart render different objects for the same values. The message
	// names them. Otherwise, it is absent.
	ConditionDeterministic = "Deterministic"
	// ConditionCRDsUpToDate is False while a CRD in the cluster differs from the one in the chart and is left as it is. The message
	// names it, and says why. Otherwise, it is absent.
	ConditionCRDsUpToDate = "CRDsUpToDate"
	// ConditionDrifted is True while others have changed or deleted objects of the release and the mode release.DriftWarn leaves them
	// as they are. The message names the objects and fields. Otherwise, it is absent.
	ConditionDrifted = "Drifted"
	// ConditionOwnershipConflict is True while objects of the chart exist that don't belong to the release, and WithTakeOwnership reports
	// them or they belong to others. The message names them. Otherwise, it is absent.
	ConditionOwnershipConflict = "OwnershipConflict"
	// ConditionTestSuccess says whether the tests of the chart have succeeded after the last installation or upgrade. It is absent if they
	// aren't run, or if there are none.
	ConditionTestSuccess = "TestSuccess"
	// ConditionOutdated is True while a release waits for its upgrade to the version of the operator, because of WithRollout. Otherwise,
	// it is absent.
	ConditionOutdated = customresource.ConditionOutdated
	// ConditionOutputsReady says whether all values of WithOutputs are in status.outputs. It is absent without outputs.
	ConditionOutputsReady = outputs.Condition
	// ConditionPaused is True while AnnotationPaused keeps the operator from changing anything. Otherwise, it is absent.
	ConditionPaused = customresource.ConditionPaused
	// ConditionDeletionBlocked is True while a deleted resource remains, with what blocks its deletion. Otherwise, it is absent.
	ConditionDeletionBlocked = "DeletionBlocked"
)

// The reasons of conditions.
const (
	ReasonInstallSuccessful   = "InstallSuccessful"
	ReasonUpgradeSuccessful   = "UpgradeSuccessful"
	ReasonUninstallSuccessful = "UninstallSuccessful"
	ReasonInstallError        = "InstallError"
	ReasonUpgradeError        = "UpgradeError"
	ReasonUninstallError      = "UninstallError"
	ReasonReconcileError      = "ReconcileError"

	// ReasonValuesMissing means that a Secret or ConfigMap with values, or a key in it, doesn't exist.
	ReasonValuesMissing = "ValuesMissing"
	// ReasonValuesInvalid means that a Secret or ConfigMap with values has other content than its use requires.
	ReasonValuesInvalid = "ValuesInvalid"

	// ReasonDependencyNotReady means that the release isn't installed or upgraded before an object of WithDependsOn is ready. It is the
	// reason of the event when the wait begins, too.
	ReasonDependencyNotReady = customresource.ReasonDependencyNotReady

	// ReasonObjectsReady means that all objects are ready.
	ReasonObjectsReady = "ObjectsReady"
	// ReasonInProgress means that an object is not ready yet.
	ReasonInProgress = "InProgress"
	// ReasonFailed means that an object will not become ready without a change.
	ReasonFailed = "Failed"
	// ReasonObjectMissing means that an object of the release does not exist.
	ReasonObjectMissing = "ObjectMissing"
	// ReasonUnknown means that an object cannot be read.
	ReasonUnknown = "Unknown"
	// ReasonInstalling, ReasonUpgrading and ReasonUninstalling mean that the release is being changed.
	ReasonInstalling   = "Installing"
	ReasonUpgrading    = "Upgrading"
	ReasonUninstalling = "Uninstalling"

	// ReasonNondeterministicTemplate is the only reason of Deterministic.
	ReasonNondeterministicTemplate = "NondeterministicTemplate"
	// ReasonCRDsDiffer is the only reason of CRDsUpToDate.
	ReasonCRDsDiffer = "CRDsDiffer"
	// ReasonDriftDetected is the only reason of Drifted.
	ReasonDriftDetected = "DriftDetected"
	// ReasonWouldTakeOwnership means that release.OwnershipEnabled would take over objects, or refuse those that belong to others.
	ReasonWouldTakeOwnership = "WouldTakeOwnership"
	// ReasonOwnedByOthers means that objects aren't taken over, because they belong to others.
	ReasonOwnedByOthers = "OwnedByOthers"
	// ReasonTestPending means that the tests wait for objects to be ready, or are running.
	ReasonTestPending = "TestPending"
	// ReasonTestSucceeded and ReasonTestFailed are the results of tests, as in Flux. They are reasons of events, too; a failed test that
	// makes the installation or upgrade fail has the event of that failure only.
	ReasonTestSucceeded = "TestSucceeded"
	ReasonTestFailed    = "TestFailed"
	// ReasonRolloutWaiting means that as many other releases are being upgraded as WithRollout permits.
	ReasonRolloutWaiting = customresource.ReasonRolloutWaiting
	// ReasonRolloutStopped means that more upgrades have failed than WithRollout permits.
	ReasonRolloutStopped = customresource.ReasonRolloutStopped
	// ReasonOutputsFailed means that a value of WithOutputs couldn't be written: its template failed, it doesn't have the type, or it
	// contains a secret. It is a reason of OutputsReady, of Ready if all objects are ready, and of an event.
	ReasonOutputsFailed = outputs.ReasonFailed
	// ReasonPaused is the only reason of Paused. DeletionBlocked has it, too, and Ready if a paused resource was never reconciled.
	ReasonPaused = customresource.ReasonPaused
	// ReasonWaitingForObjects means that the annotation uninstall-wait keeps the deleted resource.
	ReasonWaitingForObjects = "WaitingForObjects"
	// ReasonWaitingForHook means that a Job or Pod of a hook of the chart has not finished yet.
	ReasonWaitingForHook = "WaitingForHook"
	// ReasonWaitingForCRD means that the API server does not serve a CRD of the chart yet.
	ReasonWaitingForCRD = "WaitingForCRD"
)

// maxMessage is the maximum length of the message of a condition or event in bytes. Longer notes and errors are cut.
const maxMessage = 4096

// A condition is a condition of a custom resource, without its times. An empty reason or message is left out.
type condition struct {
	kind    string
	status  metav1.ConditionStatus
	reason  string
	message string
}

// setCondition returns conditions with c. An empty reason or message is left out.
func setCondition(conditions []any, c condition, generation int64, now time.Time) []any {
	fields := map[string]any{"type": c.kind, "status": string(c.status), "observedGeneration": generation}
	if c.reason != "" {
		fields["reason"] = c.reason
	}
	if c.message != "" {
		fields["message"] = customresource.Truncate(c.message, maxMessage)
	}
	return customresource.SetCondition(conditions, fields, now)
}

// readCondition returns a condition of obj, or one without status.
func readCondition(obj *unstructured.Unstructured, kind string) condition {
	fields := customresource.ReadCondition(obj, kind)
	text := func(key string) string { s, _ := fields[key].(string); return s }
	return condition{kind, metav1.ConditionStatus(text("status")), text("reason"), text("message")}
}
