package bundle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// IsLoss reports whether a note is about a part of the input that is missing from the bundle, and that OLM does not replace. Such notes
// have the severity Warning. The others are about a bundle that was generated nevertheless, with the severity Detail if there is nothing to
// do about them.
func IsLoss(note diag.Finding) bool { return note.Severity == diag.Warning }

// lossUnless returns the severity of a note about a part of the input that OLM may replace.
func lossUnless(replaced bool) diag.Severity {
	if replaced {
		return diag.Detail
	}
	return diag.Warning
}

// Losses returns the notes about losses.
func Losses(notes diag.Findings) diag.Findings {
	return slices.DeleteFunc(slices.Clone(notes), func(n diag.Finding) bool { return !IsLoss(n) })
}

// unknownFields compares an object as read with its encoded Go type, and returns the paths of the fields that are lost.
func unknownFields(read, kept any, at []string) [][]string {
	var gone [][]string
	switch read := read.(type) {
	case map[string]any:
		kept, ok := kept.(map[string]any)
		if !ok && len(read) > 0 {
			return nil // the Go type encodes the mapping in another form
		}
		for _, key := range slices.Sorted(maps.Keys(read)) {
			path := append(slices.Clone(at), key)
			value, there := kept[key]
			if !there {
				if !isEmpty(read[key]) && !hasFold(kept, key) {
					gone = append(gone, path)
				}
				continue
			}
			gone = append(gone, unknownFields(read[key], value, path)...)
		}
	case []any:
		kept, ok := kept.([]any)
		if !ok || len(kept) != len(read) {
			return nil
		}
		for i := range read {
			gone = append(gone, unknownFields(read[i], kept[i], append(slices.Clone(at), fmt.Sprint(i)))...)
		}
	}
	return gone
}

// hasFold reports whether a mapping has a key that differs in letter case at most.
func hasFold(kept map[string]any, key string) bool {
	for other := range kept {
		if strings.EqualFold(other, key) {
			return true
		}
	}
	return false
}

// isEmpty reports whether a Go type may omit a value without losing anything.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case int64:
		return v == 0
	case float64:
		return v == 0
	case map[string]any:
		for _, value := range v {
			if !isEmpty(value) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return false
}
