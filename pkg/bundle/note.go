package bundle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// Note is something that a person should know about a bundle that could be made.
type Note struct {
	manifest.Position
	// Subject is the object or field that the note is about.
	Subject string
	// Reason says what happened, as the second half of a sentence; Advice what to do about it.
	Reason, Advice string
	// Dropped tells that something of the input is lost: it is not in the bundle, and OLM puts nothing of
	// its own in the place.
	Dropped bool
}

func (n Note) String() string {
	var b strings.Builder
	if n.File != "" {
		b.WriteString(n.Position.String() + ": ")
	}
	fmt.Fprintf(&b, "%s %s", n.Subject, n.Reason)
	if n.Advice != "" {
		b.WriteString("; " + n.Advice)
	}
	return b.String()
}

// Dropped are the notes about what is lost.
func Dropped(notes []Note) []Note {
	return slices.DeleteFunc(slices.Clone(notes), func(n Note) bool { return !n.Dropped })
}

// lost compares an object as read with what a Go type of Kubernetes made of it, and lists the fields
// that have gone, as paths with their steps.
func lost(read, kept any, at []string) [][]string {
	var gone [][]string
	switch read := read.(type) {
	case map[string]any:
		kept, ok := kept.(map[string]any)
		if !ok && len(read) > 0 {
			return nil // an empty value that stands for itself, or a value that was normalised
		}
		for _, key := range slices.Sorted(maps.Keys(read)) {
			path := append(slices.Clone(at), key)
			value, there := kept[key]
			if !there {
				if !empty(read[key]) && !foldedIn(kept, key) {
					gone = append(gone, path)
				}
				continue
			}
			gone = append(gone, lost(read[key], value, path)...)
		}
	case []any:
		kept, ok := kept.([]any)
		if !ok || len(kept) != len(read) {
			return nil
		}
		for i := range read {
			gone = append(gone, lost(read[i], kept[i], append(slices.Clone(at), fmt.Sprint(i)))...)
		}
	}
	return gone
}

// foldedIn tells whether a key was taken for one that differs in letter case only.
func foldedIn(kept map[string]any, key string) bool {
	for other := range kept {
		if strings.EqualFold(other, key) {
			return true
		}
	}
	return false
}

// empty tells whether a value is one that a Go type may leave out without losing anything.
func empty(v any) bool {
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
			if !empty(value) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return false
}
