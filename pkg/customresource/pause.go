package customresource

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// ConditionPaused is the type of the condition that is True while an annotation pauses a resource. Otherwise, it is absent.
	ConditionPaused = "Paused"
	// ReasonPaused is the reason of the conditions that a pause writes.
	ReasonPaused = "PausedByAnnotation"
	// EventPaused and EventResumed are the reasons of the events about the begin and the end of a pause.
	EventPaused, EventResumed = "Paused", "Resumed"
)

// IsPaused reports whether an annotation of obj is true.
func IsPaused(obj metav1.Object, annotation string) (paused bool, err error) {
	err = ReadBool(obj, annotation, &paused)
	return paused, err
}

// PauseOrResume reports whether an annotation pauses obj. It writes the begin and the end of a pause to the status of obj, and emits an
// event with a reason and a message about each. A resource whose annotation is invalid is not paused; its pass has to fail before it
// changes anything. The function more returns the statuses of other conditions that a pause sets.
func (k *Kind) PauseOrResume(
	ctx context.Context, obj *unstructured.Unstructured, annotation string,
	more func(*unstructured.Unstructured) map[string]string, emit func(reason, message string),
) (paused bool, err error) {
	paused, invalid := IsPaused(obj, annotation)
	switch {
	case invalid != nil:
		return false, nil
	case !paused:
		ends, err := k.resume(ctx, obj)
		if ends {
			emit(EventResumed, "The annotation "+annotation+" no longer pauses the resource")
		}
		return false, err
	}
	begins, err := k.pause(ctx, obj, annotation, more)
	if begins {
		emit(EventPaused, "The annotation "+annotation+" pauses the resource")
	}
	return true, err
}

// pause writes to the status of obj that an annotation pauses it, and reports whether the pause begins. Ready and the generation that
// the status is about stay as they are; only a missing Ready becomes Unknown. The function more returns the statuses of other
// conditions to set.
func (k *Kind) pause(ctx context.Context, obj *unstructured.Unstructured, annotation string, more func(*unstructured.Unstructured) map[string]string) (begins bool, err error) {
	begins = true
	overtaken := false
	err = k.patchConditions(ctx, obj, func(current *unstructured.Unstructured, conditions []any) []any {
		if paused, err := IsPaused(current, annotation); err != nil || !paused {
			overtaken = true
			return conditions // the next pass handles the change
		}
		begins = ReadCondition(current, ConditionPaused)["reason"] != ReasonPaused
		message := fmt.Sprintf("the annotation %s keeps the operator from changing anything", annotation)
		if current.GetDeletionTimestamp() != nil {
			message += "; the deletion waits until it is removed"
		}
		statuses := map[string]string{ConditionPaused: "True"}
		if ReadCondition(current, conditionReady) == nil {
			statuses[conditionReady] = "Unknown"
		}
		maps.Copy(statuses, more(current))
		for _, kind := range slices.Sorted(maps.Keys(statuses)) {
			conditions = SetCondition(conditions, map[string]any{
				"type": kind, "status": statuses[kind], "reason": ReasonPaused, "message": message, "observedGeneration": current.GetGeneration(),
			}, k.Now())
		}
		return conditions
	})
	if apierrors.IsInvalid(err) {
		log.FromContext(ctx).Error(err, "the schema of the kind does not permit the conditions of a paused resource")
		err = nil
	}
	return err == nil && !overtaken && k.memory.setPaused(obj, true) && begins, err
}

// resume removes the conditions that pause has written to the status of obj, and reports whether a pause ends.
func (k *Kind) resume(ctx context.Context, obj *unstructured.Unstructured) (ends bool, err error) {
	if ReadCondition(obj, ConditionPaused) != nil {
		err = k.patchConditions(ctx, obj, func(_ *unstructured.Unstructured, conditions []any) []any {
			after := slices.DeleteFunc(slices.Clone(conditions), func(c any) bool {
				m, ok := c.(map[string]any)
				return ok && m["reason"] == ReasonPaused
			})
			ends = len(after) != len(conditions)
			return after
		})
	}
	return err == nil && (k.memory.setPaused(obj, false) || ends), err
}

// patchConditions replaces the conditions of obj with what change returns, unless others write the status.
func (k *Kind) patchConditions(ctx context.Context, obj *unstructured.Unstructured, change func(*unstructured.Unstructured, []any) []any) error {
	if k.NoStatus {
		return nil
	}
	return k.PatchStatus(ctx, obj, func(current *unstructured.Unstructured) map[string]any {
		status, _ := current.Object["status"].(map[string]any)
		conditions, _ := status["conditions"].([]any)
		generation, observed := status["observedGeneration"].(int64)
		patch := StatusPatch(current, generation, change(current, conditions))
		if !observed {
			delete(patch, "observedGeneration")
		}
		return patch
	})
}
