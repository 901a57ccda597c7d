package manifest

import (
	"errors"

	"github.com/operon-sdk/operon/pkg/diag"
)

// These names are used until all packages use those of diag.
type (
	Position = diag.Position
	Problem  = diag.Finding
	Problems = diag.Findings
)

// ErrNotKubernetes is the cause of a problem of a document that is YAML, but not of Kubernetes.
var ErrNotKubernetes = errors.New("not a Kubernetes object")
