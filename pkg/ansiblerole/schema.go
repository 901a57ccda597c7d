package ansiblerole

import (
	"github.com/operon-sdk/operon/pkg/diag"
)

// A SpecSchema is the schema of spec of a kind.
type SpecSchema struct {
	// OpenAPI is the schema, a structural schema of Kubernetes.
	OpenAPI map[string]any
	// Required reports whether objects need a spec.
	Required bool
	// Sample are the fields of spec in a sample as YAML with comments, not indented. SampleEmpty reports whether these are comments only.
	Sample      []byte
	SampleEmpty bool
	// Notes state what the schema lacks.
	Notes diag.Findings
}

// Schema returns the schema of spec for the argument specifications of the roles that a watch runs, or nil if there are none.
func Schema(files Files, watch Watch) (*SpecSchema, error) {
	return nil, nil
}
