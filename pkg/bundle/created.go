package bundle

import (
	"time"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// SetCreated sets the createdAt annotation of a CSV, if it has annotations.
func SetCreated(csv map[string]any, at time.Time) {
	if annotations := manifest.MapAt(csv, "metadata", "annotations"); annotations != nil {
		annotations[annotationCreated] = at.UTC().Format(time.RFC3339)
	}
}

// CreatedAt returns the createdAt annotation of a CSV, or "" if there is none.
func CreatedAt(csv []byte) string {
	objects, _ := manifest.Decode("", csv)
	if len(objects) != 1 {
		return ""
	}
	return manifest.TextAt(objects[0].Fields, "metadata", "annotations", annotationCreated)
}
