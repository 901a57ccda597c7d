package bundle

import (
	"time"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// SetCreated writes the time that a CSV was made at.
func SetCreated(csv map[string]any, at time.Time) {
	if meta, ok := csv["metadata"].(map[string]any); ok {
		if annotations, ok := meta["annotations"].(map[string]any); ok {
			annotations[annotationCreated] = at.UTC().Format(time.RFC3339)
		}
	}
}

// CreatedAt reads the time of a CSV as it is written, empty where there is none.
func CreatedAt(csv []byte) string {
	objects, _ := manifest.Decode("", csv)
	if len(objects) != 1 {
		return ""
	}
	return textAt(objects[0].Fields, "metadata", "annotations", annotationCreated)
}
