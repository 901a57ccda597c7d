package customresource

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ReasonDependencyNotReady is the reason of Ready while a resource waits for others, and of the event when that begins.
const ReasonDependencyNotReady = "DependencyNotReady"

// SetCondition returns conditions with one of the given fields, which must contain type and status. Its lastTransitionTime changes
// only with its status. Conditions of other types are kept as they are, including fields that the reconciler does not write.
func SetCondition(conditions []any, fields map[string]any, now time.Time) []any {
	fields["lastTransitionTime"] = now.UTC().Format(time.RFC3339)
	kind, _ := fields["type"].(string)
	i := findCondition(conditions, kind)
	if i < 0 {
		return append(slices.Clone(conditions), fields)
	}
	if old := conditions[i].(map[string]any); old["status"] == fields["status"] && old["lastTransitionTime"] != nil {
		fields["lastTransitionTime"] = old["lastTransitionTime"]
	}
	result := slices.Clone(conditions)
	result[i] = fields
	return result
}

// RemoveCondition returns conditions without the one of a type.
func RemoveCondition(conditions []any, kind string) []any {
	return slices.DeleteFunc(slices.Clone(conditions), func(c any) bool {
		m, ok := c.(map[string]any)
		return ok && m["type"] == kind
	})
}

// findCondition returns an index, or -1.
func findCondition(conditions []any, kind string) int {
	return slices.IndexFunc(conditions, func(c any) bool {
		m, ok := c.(map[string]any)
		return ok && m["type"] == kind
	})
}

// ReadCondition returns the fields of a condition of obj, or nil.
func ReadCondition(obj *unstructured.Unstructured, kind string) map[string]any {
	status, _ := obj.Object["status"].(map[string]any)
	conditions, _ := status["conditions"].([]any)
	if i := findCondition(conditions, kind); i >= 0 {
		return conditions[i].(map[string]any)
	}
	return nil
}

// StatusPatch returns the status in the merge patch that sets the conditions of obj and the generation that they are about. It is
// empty if nothing changes.
func StatusPatch(obj *unstructured.Unstructured, generation int64, conditions []any) map[string]any {
	status, _ := obj.Object["status"].(map[string]any)
	patch := map[string]any{}
	if before, _ := status["conditions"].([]any); !equality.Semantic.DeepEqual(before, conditions) {
		patch["conditions"] = conditions
	}
	if status["observedGeneration"] != any(generation) {
		patch["observedGeneration"] = generation
	}
	return patch
}

// MaxEvent is the maximum length of the message of an event, as the API server refuses longer ones.
const MaxEvent = 1024

// Truncate cuts s to at most limit bytes, between characters, and marks the cut.
func Truncate(s string, limit int) string {
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
