package ansibleoperator

import (
	"context"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/outputs"
)

// The types of conditions of a custom resource. All but Ready exist in operator-sdk's ansible-operator, too.
const (
	// ConditionRunning is True during a run and, with another reason, after a successful one. It is False after a failed one.
	ConditionRunning = "Running"
	// ConditionSuccessful is True after a successful run, and False during a run and after a failed one.
	ConditionSuccessful = "Successful"
	// ConditionFailure is True after a failed run, until one is successful. The message is the one of the failed tasks.
	ConditionFailure = "Failure"
	// ConditionReady is True if the last run for the current generation was successful. A run without changes of the resource does not
	// change it until the run ends.
	ConditionReady = "Ready"
	// ConditionOutdated is True while a resource waits for its first run of the version of the operator, because of WithRollout.
	// Otherwise, it is absent.
	ConditionOutdated = customresource.ConditionOutdated
	// ConditionOutputsReady says whether all values of WithOutputs are in status.outputs. It is absent without outputs.
	ConditionOutputsReady = outputs.Condition
	// ConditionPaused is True while AnnotationPaused keeps the operator from starting runs. Otherwise, it is absent.
	ConditionPaused = customresource.ConditionPaused
)

// The reasons of conditions.
const (
	ReasonRunning    = "Running"
	ReasonSuccessful = "Successful"
	ReasonFailed     = "Failed"
	// ReasonVarsMissing means that a Secret or ConfigMap with variables, or a key in it, doesn't exist.
	ReasonVarsMissing = "VarsMissing"
	// ReasonVarsInvalid means that a Secret or ConfigMap with variables has other content than its use requires.
	ReasonVarsInvalid = "VarsInvalid"
	// ReasonDependencyNotReady means that no run starts before an object of WithDependsOn is ready. It is the reason of the event when the
	// wait begins, too.
	ReasonDependencyNotReady = customresource.ReasonDependencyNotReady
	// ReasonTimedOut means that the last run exceeded its time.
	ReasonTimedOut = "TimedOut"
	// ReasonRequeued means that the module requeue_after ended the last run.
	ReasonRequeued = "Requeued"
	// ReasonFinalizing means that the finalizer is running.
	ReasonFinalizing = "Finalizing"
	// ReasonRolloutWaiting means that as many other resources are being upgraded as WithRollout permits.
	ReasonRolloutWaiting = customresource.ReasonRolloutWaiting
	// ReasonRolloutStopped means that more runs have failed than WithRollout permits.
	ReasonRolloutStopped = customresource.ReasonRolloutStopped
	// ReasonOutputsFailed means that a value of WithOutputs couldn't be written after a successful run. It is a reason of OutputsReady, of
	// Ready and of an event.
	ReasonOutputsFailed = outputs.ReasonFailed
	// ReasonPaused is the only reason of Paused. Ready has it, too, if a paused resource was never reconciled.
	ReasonPaused = customresource.ReasonPaused
)

// The messages of conditions, as operator-sdk's.
const (
	messageRunning   = "Running reconciliation"
	messageWaiting   = "Awaiting next reconciliation"
	messageSucceeded = "Last reconciliation succeeded"
)

// maxMessage is the maximum length of the message of a condition in bytes. Longer ones are cut.
const maxMessage = 8192

// completionFormat is the format of the time of completion in ansibleResult, in UTC.
const completionFormat = "2006-01-02T15:04:05.000000"

// A condition is a condition to write. As in operator-sdk, its reason and message are written even if they are empty.
type condition struct {
	kind    string
	status  bool
	reason  string
	message string
	// result is ansibleResult, or nil.
	result map[string]any
	// absent removes the condition.
	absent bool
}

func ready(status bool, reason, message string) condition {
	return condition{kind: ConditionReady, status: status, reason: reason, message: message}
}

func (c condition) fields(generation int64) map[string]any {
	status := "False"
	if c.status {
		status = "True"
	}
	fields := map[string]any{
		"type": c.kind, "status": status, "reason": c.reason, "message": customresource.Truncate(c.message, maxMessage),
	}
	if c.result != nil {
		fields["ansibleResult"] = maps.Clone(c.result)
	}
	if c.kind == ConditionReady || c.kind == ConditionOutdated || c.kind == ConditionOutputsReady {
		fields["observedGeneration"] = generation
	}
	return fields
}

// ansibleResult returns the numbers of a run.
func ansibleResult(result *runner.Result) map[string]any {
	if result == nil || result.Completion.IsZero() {
		return nil
	}
	return map[string]any{
		"ok": int64(result.Stats.OK), "changed": int64(result.Stats.Changed), "skipped": int64(result.Stats.Skipped),
		"failures": int64(result.Stats.Failures), "completion": result.Completion.UTC().Format(completionFormat),
	}
}

// runningConditions returns the conditions during a run for obj. Ready stays if it is about the current generation.
func runningConditions(obj *unstructured.Unstructured) []condition {
	conditions := []condition{
		{kind: ConditionRunning, status: true, reason: ReasonRunning, message: messageRunning},
		{kind: ConditionSuccessful},
	}
	current := customresource.ReadCondition(obj, ConditionReady)
	switch {
	case obj.GetDeletionTimestamp() != nil:
		conditions = append(conditions, ready(false, ReasonFinalizing, "The finalizer is running"))
	case current == nil || current["observedGeneration"] != any(obj.GetGeneration()):
		conditions = append(conditions, ready(false, ReasonRunning, messageRunning))
	}
	if customresource.ReadCondition(obj, ConditionFailure) == nil {
		conditions = append(conditions, condition{kind: ConditionFailure})
	}
	return conditions
}

func successConditions(result *runner.Result) []condition {
	return []condition{
		{kind: ConditionRunning, status: true, reason: ReasonSuccessful, message: messageWaiting, result: ansibleResult(result)},
		{kind: ConditionSuccessful, status: true, reason: ReasonSuccessful, message: messageSucceeded},
		{kind: ConditionFailure},
		ready(true, ReasonSuccessful, messageSucceeded),
	}
}

// failureConditions returns the conditions after a failed run. There may be no result.
func failureConditions(result *runner.Result, reason, message string) []condition {
	return []condition{
		{kind: ConditionRunning, reason: ReasonRunning, message: messageRunning},
		{kind: ConditionSuccessful},
		{kind: ConditionFailure, status: true, reason: ReasonFailed, message: message, result: ansibleResult(result)},
		ready(false, reason, message),
	}
}

// writeStatus writes conditions about the generation of the pass, and what else the pass has for the status, unless the role manages it.
// Other keys and conditions are kept.
func (p *pass) writeStatus(ctx context.Context, conditions []condition) error {
	if !p.manageStatus {
		return nil
	}
	err := p.kind.PatchStatus(ctx, p.obj, func(current *unstructured.Unstructured) map[string]any {
		patch := statusPatch(current, p.generation, conditions, p.kind.Now())
		if p.rollout != nil {
			p.rollout.AddTo(patch, current)
			removeOutdated(patch, current)
		}
		if p.outputs != nil {
			status, _ := current.Object["status"].(map[string]any)
			p.outputs.AddTo(patch, status)
		}
		p.failed.addTo(patch, current)
		if p.handled != "" {
			patch[customresource.StatusHandled] = p.handled
		}
		return patch
	})
	if err == nil {
		p.kind.SetHandled(p.obj, p.handled)
		p.kind.Rollout.Written(p.obj)
	}
	return err
}

// removeOutdated removes the condition Outdated of obj by a merge patch of its status.
func removeOutdated(patch map[string]any, obj *unstructured.Unstructured) {
	if customresource.ReadCondition(obj, ConditionOutdated) == nil {
		return
	}
	conditions, changed := patch["conditions"].([]any)
	if !changed {
		conditions, _, _ = unstructured.NestedSlice(obj.Object, "status", "conditions")
	}
	patch["conditions"] = customresource.RemoveCondition(conditions, ConditionOutdated)
}

// statusPatch returns the status in a merge patch, which is empty if nothing changes.
func statusPatch(obj *unstructured.Unstructured, generation int64, conditions []condition, now time.Time) map[string]any {
	status, _ := obj.Object["status"].(map[string]any)
	after, _ := status["conditions"].([]any)
	for _, c := range conditions {
		if c.absent {
			after = customresource.RemoveCondition(after, c.kind)
			continue
		}
		after = customresource.SetCondition(after, c.fields(generation), now)
	}
	return customresource.StatusPatch(obj, generation, after)
}
