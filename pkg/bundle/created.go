package bundle

import (
	"time"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// SetCreated sets the createdAt annotation of a CSV, if it has annotations.
func SetCreated(csv map[string]any, at time.Time) {
	if meta, ok := csv["metadata"].(map[string]any); ok {
		if annotations, ok := meta["annotations"].(map[string]any); ok {
			annotations[annotationCreated] = at.UTC().Format(time.RFC3339)
		}
	}
}

// CreatedAt returns the createdAt annotation of a CSV, or "" if there is none.
func CreatedAt(csv []byte) string {
	objects, _ := manifest.Decode("", csv)
	if len(objects) != 1 {
		return ""
	}
	return textAt(objects[0].Fields, "metadata", "annotations", annotationCreated)
}
