package bundle

import "time"

// SetCreated writes the time that a CSV was made at.
func SetCreated(csv map[string]any, at time.Time) {
	if meta, ok := csv["metadata"].(map[string]any); ok {
		if annotations, ok := meta["annotations"].(map[string]any); ok {
			annotations[annotationCreated] = at.UTC().Format(time.RFC3339)
		}
	}
}
