package helmoperator

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The types of conditions of a custom resource. The first four are those of operator-sdk's helm-operator.
const (
	// ConditionInitialized is True as soon as the resource is reconciled for the first time.
	ConditionInitialized = "Initialized"
	// ConditionDeployed is True when a release is deployed, with the notes of its chart as the message, and False after the
	// release is uninstalled. It does not depend on pods.
	ConditionDeployed = "Deployed"
	// ConditionReleaseFailed is True while an installation, upgrade or removal fails. Otherwise, it is absent.
	ConditionReleaseFailed = "ReleaseFailed"
	// ConditionIrreconcilable is True while anything else fails: the chart cannot be rendered, the values are invalid, drift
	// cannot be repaired. Otherwise, it is absent.
	ConditionIrreconcilable = "Irreconcilable"
	// ConditionReady is True when all objects of the current release are ready. Its message names the first object that is not.
	ConditionReady = "Ready"
	// ConditionDeterministic is False while templates of the chart render different objects for the same values. The message
	// names them. Otherwise, it is absent.
	ConditionDeterministic = "Deterministic"
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

	// ReasonObjectsReady is that of Ready: all objects are ready.
	ReasonObjectsReady = "ObjectsReady"
	// ReasonInProgress is that of Ready: an object is not ready yet.
	ReasonInProgress = "InProgress"
	// ReasonFailed is that of Ready: an object will not become ready without a change.
	ReasonFailed = "Failed"
	// ReasonObjectMissing is that of Ready: an object of the release does not exist.
	ReasonObjectMissing = "ObjectMissing"
	// ReasonUnknown is that of Ready: an object cannot be read.
	ReasonUnknown = "Unknown"
	// ReasonInstalling, ReasonUpgrading and ReasonUninstalling are those of Ready while the release is changed.
	ReasonInstalling   = "Installing"
	ReasonUpgrading    = "Upgrading"
	ReasonUninstalling = "Uninstalling"

	// ReasonNondeterministicTemplate is that of Deterministic.
	ReasonNondeterministicTemplate = "NondeterministicTemplate"
	// ReasonWaitingForObjects is that of DeletionBlocked with the annotation uninstall-wait.
	ReasonWaitingForObjects = "WaitingForObjects"
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

// setCondition returns conditions with c. Its transition time changes only with its status. Conditions of other types are kept as
// they are, including fields that this package does not write.
func setCondition(conditions []any, c condition, generation int64, now time.Time) []any {
	written := map[string]any{
		"type": c.kind, "status": string(c.status), "observedGeneration": generation,
		"lastTransitionTime": now.UTC().Format(time.RFC3339),
	}
	if c.reason != "" {
		written["reason"] = c.reason
	}
	if c.message != "" {
		written["message"] = truncate(c.message, maxMessage)
	}
	i := findCondition(conditions, c.kind)
	if i < 0 {
		return append(slices.Clone(conditions), written)
	}
	if old := conditions[i].(map[string]any); old["status"] == written["status"] && old["lastTransitionTime"] != nil {
		written["lastTransitionTime"] = old["lastTransitionTime"]
	}
	result := slices.Clone(conditions)
	result[i] = written
	return result
}

// removeCondition returns conditions without those of a type.
func removeCondition(conditions []any, kind string) []any {
	return slices.DeleteFunc(slices.Clone(conditions), func(c any) bool {
		m, ok := c.(map[string]any)
		return ok && m["type"] == kind
	})
}

// findCondition returns the index of the condition of a type, or -1.
func findCondition(conditions []any, kind string) int {
	return slices.IndexFunc(conditions, func(c any) bool {
		m, ok := c.(map[string]any)
		return ok && m["type"] == kind
	})
}

// truncate cuts s to at most limit bytes, between characters, and marks the cut.
func truncate(s string, limit int) string {
	const mark = "\n... (truncated)"
	if len(s) <= limit {
		return s
	}
	end := limit - len(mark)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.TrimRight(s[:end], "\n") + mark
}

// readCondition returns a condition of obj, or one without status.
func readCondition(obj *unstructured.Unstructured, kind string) condition {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	i := findCondition(conditions, kind)
	if i < 0 {
		return condition{kind: kind}
	}
	m := conditions[i].(map[string]any)
	text := func(key string) string { s, _ := m[key].(string); return s }
	return condition{kind, metav1.ConditionStatus(text("status")), text("reason"), text("message")}
}
